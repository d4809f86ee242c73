// Language of the pages of one server.

/** Tells the server the reader's language, for its further pages. A file on disk has no server. */
export function rememberLanguage(lang: string): void {
    if (location.protocol.startsWith("http")) document.cookie = `pgdyno-lang=${encodeURIComponent(lang)}; path=/; max-age=31536000; samesite=strict`;
}
