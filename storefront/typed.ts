const CONTROL = /\p{Cc}+/gu

/**
 * What somebody typed or pasted, as the platform takes it: no control characters, and cut behind a
 * character, never within one. Half an emoji is no text, and would be refused with all that came with it.
 */
export function readTyped(text: string | null, lengthMax: number): string {
  const cut = (text ?? '').replace(CONTROL, ' ').trim().slice(0, lengthMax)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
