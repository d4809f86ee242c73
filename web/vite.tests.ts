// Build of the tests as programs for Node.
import { defineConfig } from "vite";

export default defineConfig({
    build: {
        ssr: true,
        target: "node18",
        outDir: "test/out",
        emptyOutDir: false,
        copyPublicDir: false,
        rollupOptions: {
            input: { unit: "test/unit.ts", browser: "test/browser.ts", shots: "test/shots.ts" },
            output: { entryFileNames: "[name].mjs", chunkFileNames: "chunk-[name].mjs" },
        },
    },
    ssr: { external: ["playwright-core"], noExternal: [] },
});
