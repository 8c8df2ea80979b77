/** How many letters a misspelt name may differ from a known one, by the length of the shorter of the two. */
const lettersAllowed = (length: number): number => (length <= 3 ? 0 : length <= 5 ? 1 : 2)

/** The longest name that is compared: longer than any known name. */
const LENGTH_MAX = 60

const digitsOf = (name: string): string => name.replace(/\D/g, '')

/**
 * Finds the known name that a name was most likely meant to be: it differs by at most two letters, one in a short name
 * and none in a name of three letters, or by the case alone. A letter that is missing, too much, different, or swapped
 * with its neighbour counts as one difference. Names with different digits are different names, such as `line2` and
 * `line3`.
 */
export function findNear(name: string, known: Iterable<string>): string | null {
  if (name.length > LENGTH_MAX) return null
  const sent = name.toLowerCase()
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const meant = candidate.toLowerCase()
    const allowed = lettersAllowed(Math.min(sent.length, meant.length))
    if (Math.abs(sent.length - meant.length) > allowed) continue
    if (digitsOf(sent) !== digitsOf(meant)) continue
    const letters = distance(sent, meant)
    if (letters > allowed || letters >= least) continue
    nearest = candidate
    least = letters
  }
  return nearest
}

/** Counts the letters by which two texts differ (Damerau and Levenshtein; each letter is swapped at most once). */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const changed = (last[j - 1] ?? 0) + (isSame ? 0 : 1)
      let least = Math.min(changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) least = Math.min(least, (before[j - 2] ?? 0) + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
