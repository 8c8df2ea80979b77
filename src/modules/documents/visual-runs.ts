import bidiFactory from 'bidi-js'

/** A piece of a line whose characters run one way. */
export interface Run {
  text: string
  isRightToLeft: boolean
}

const bidi = bidiFactory()

/** Hebrew, Arabic and the other scripts from right to left, as far as our font has them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

const LETTER = /\p{L}/u

/** Whether a text begins with a letter of a script from right to left, as a paragraph in it does. */
export const startsRightToLeft = (text: string): boolean =>
  RIGHT_TO_LEFT.test(LETTER.exec(text)?.[0] ?? '')

/**
 * The runs of a line from left to right, by the Unicode bidirectional algorithm. PDFs have no direction: they
 * show characters where they were put. The characters of a run stay in the order in which they are read.
 */
export function visualRuns(line: string, isRightToLeft: boolean): Run[] {
  if (!RIGHT_TO_LEFT.test(line)) return [{ text: line, isRightToLeft: false }]
  const { levels } = bidi.getEmbeddingLevels(line, isRightToLeft ? 'rtl' : 'ltr')
  const runs: (Run & { level: number })[] = []
  for (let at = 0; at < line.length; at++) {
    const level = levels[at] ?? 0
    const isOdd = level % 2 === 1
    const unit = line.charAt(at)
    const shown = isOdd ? (bidi.getMirroredCharacter(unit) ?? unit) : unit
    const last = runs.at(-1)
    if (last?.level === level) last.text += shown
    else runs.push({ text: shown, isRightToLeft: isOdd, level })
  }
  return reorder(runs)
}

/** From the highest level to the lowest odd one, all neighbours of at least that level change places. */
function reorder<R extends { level: number }>(runs: readonly R[]): R[] {
  const ordered = [...runs]
  const highest = Math.max(...runs.map(({ level }) => level))
  for (let level = highest; level > 0; level--) {
    for (let at = 0; at < ordered.length; at++) {
      let end = at
      while ((ordered[end]?.level ?? -1) >= level) end++
      if (end > at + 1) ordered.splice(at, end - at, ...ordered.slice(at, end).reverse())
      at = Math.max(at, end - 1)
    }
  }
  return ordered
}
