/** U+202E: what follows is shown from right to left, whatever its script. */
const TURN = '\u202e'

/**
 * What begins a run of its own, until U+202C or U+2069 ends it. In it letters stand as they are
 * written.
 */
const EMBED = '\u202a\u202b\u202d'
const ISOLATE = '\u2066\u2067\u2068'
const END = '\u202c'
const END_ISOLATE = '\u2069'

/** Unicode's own bound; what is nested more deeply is not turned any more. */
const DEPTH_MAX = 125

interface Run {
  turned: boolean
  isolate: boolean
  parts: (string | Run)[]
}

/**
 * A text as a reader sees it: `seruc` behind U+202E is shown as `cures`. Null where nothing is
 * turned. A line ends all of its runs.
 */
export function asShown(text: string): string | null {
  if (!text.includes(TURN)) return null
  const shown: string[] = []
  for (const line of text.split(/([\n\r\u0085\u2029])/)) write(readRuns(line), shown)
  return shown.join('')
}

function readRuns(line: string): Run {
  const root: Run = { turned: false, isolate: false, parts: [] }
  const open = [root]
  // Most ends have nothing to end, and must not be searched for it in vain.
  let isolates = 0
  for (const character of line) {
    const top = open.at(-1) ?? root
    if (character === TURN || EMBED.includes(character) || ISOLATE.includes(character)) {
      if (open.length > DEPTH_MAX) continue
      const isolate = ISOLATE.includes(character)
      const run: Run = { turned: character === TURN, isolate, parts: [] }
      top.parts.push(run)
      open.push(run)
      if (isolate) isolates += 1
    } else if (character === END) {
      if (open.length > 1 && !top.isolate) open.pop()
    } else if (character === END_ISOLATE) {
      if (isolates === 0) continue
      open.length = open.findLastIndex(({ isolate }) => isolate)
      isolates -= 1
    } else top.parts.push(character)
  }
  return root
}

function write({ turned, parts }: Run, shown: string[]): void {
  for (const part of turned ? parts.reverse() : parts) {
    if (typeof part === 'string') shown.push(part)
    else write(part, shown)
  }
}
