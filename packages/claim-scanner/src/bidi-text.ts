/** U+202E, RIGHT-TO-LEFT OVERRIDE: the text after it is displayed from right to left. */
const OVERRIDE = '\u202e'

/**
 * Characters that begin an embedded run, which U+202C or U+2069 ends. Letters in it are displayed in the order in which
 * they are written.
 */
const EMBED = '\u202a\u202b\u202d'
const ISOLATE = '\u2066\u2067\u2068'
const END = '\u202c'
const END_ISOLATE = '\u2069'

/** Unicode's own limit: deeper runs are not reversed any more. */
const DEPTH_MAX = 125

interface Run {
  isReversed: boolean
  isIsolate: boolean
  parts: (string | Run)[]
}

/**
 * The text in the order in which it is displayed: `seruc` after U+202E is displayed as `cures`.
 * Null where the order is the written one. The end of a line ends all runs.
 */
export function toDisplayOrder(text: string): string | null {
  if (!text.includes(OVERRIDE)) return null
  const displayed: string[] = []
  for (const line of text.split(/([\n\r\u0085\u2029])/)) write(readRuns(line), displayed)
  return displayed.join('')
}

function readRuns(line: string): Run {
  const root: Run = { isReversed: false, isIsolate: false, parts: [] }
  const open = [root]
  // Counted, so that an end without an open isolate costs no search.
  let isolates = 0
  for (const character of line) {
    const top = open.at(-1) ?? root
    if (character === OVERRIDE || EMBED.includes(character) || ISOLATE.includes(character)) {
      if (open.length > DEPTH_MAX) continue
      const isIsolate = ISOLATE.includes(character)
      const run: Run = { isReversed: character === OVERRIDE, isIsolate, parts: [] }
      top.parts.push(run)
      open.push(run)
      if (isIsolate) isolates += 1
    } else if (character === END) {
      if (open.length > 1 && !top.isIsolate) open.pop()
    } else if (character === END_ISOLATE) {
      if (isolates === 0) continue
      open.length = open.findLastIndex(({ isIsolate }) => isIsolate)
      isolates -= 1
    } else top.parts.push(character)
  }
  return root
}

function write({ isReversed, parts }: Run, displayed: string[]): void {
  for (const part of isReversed ? parts.reverse() : parts) {
    if (typeof part === 'string') displayed.push(part)
    else write(part, displayed)
  }
}
