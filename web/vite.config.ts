// Build of the two files that are part of the program.
import { defineConfig } from "vite";

export default defineConfig({
    build: {
        // Every browser with DecompressionStream supports this version.
        target: "es2022",
        outDir: "dist",
        emptyOutDir: true,
        copyPublicDir: false,
        reportCompressedSize: false,
        lib: { entry: "src/main.ts", formats: ["iife"], name: "pgdyno", fileName: () => "page.js", cssFileName: "page" },
    },
});
