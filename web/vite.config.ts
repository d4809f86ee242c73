// How does the source become the two files that the program carries?
import { defineConfig } from "vite";

export default defineConfig({
    build: {
        // Whoever has DecompressionStream has this.
        target: "es2022",
        outDir: "dist",
        emptyOutDir: true,
        copyPublicDir: false,
        reportCompressedSize: false,
        lib: { entry: "src/main.ts", formats: ["iife"], name: "pgdyno", fileName: () => "page.js", cssFileName: "page" },
    },
});
