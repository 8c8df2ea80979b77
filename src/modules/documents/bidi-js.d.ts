/** The part of bidi-js that we use; it has no types of its own. */
declare module 'bidi-js' {
  interface Levels {
    /** For each UTF-16 unit; odd ones are written from right to left. */
    levels: Uint8Array
    paragraphs: { start: number; end: number; level: number }[]
  }
  interface Bidi {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl' | 'auto'): Levels
    /** The mirror image of a bracket; null for a character that has none. */
    getMirroredCharacter(character: string): string | null
  }
  // biome-ignore lint/style/noDefaultExport: it is what the library has
  export default function bidiFactory(): Bidi
}
