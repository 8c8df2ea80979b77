import assert from 'node:assert/strict'

const ROUNDS = 5
/** The first calls are slow for other reasons. */
const WARM = 3

interface EvenOptions {
  /** How often each call is timed in a round. */
  samples: number
  /** How many times the time of the fastest call the slowest may take. */
  ratioMax?: number
}

/**
 * Fails unless all calls take about the same time, so that none can be recognised by it. A machine that
 * others use may spoil a round; work that one of the calls leaves out would show in every round.
 */
export async function assertEvenTimes(
  calls: readonly ((n: number) => Promise<unknown>)[],
  { samples, ratioMax = 1.5 }: EvenOptions,
): Promise<void> {
  const seen: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const typical = await timeRound(calls, samples, round * (WARM + samples))
    if (Math.max(...typical) / Math.min(...typical) < ratioMax) return
    seen.push(typical.map((ms) => ms.toFixed(2)).join(' '))
  }
  assert.fail(`in ms: ${seen.join(', ')}`)
}

/** Times each call: the end of its fastest quarter counts, which a busy machine did not slow down. */
async function timeRound(
  calls: readonly ((n: number) => Promise<unknown>)[],
  samples: number,
  first: number,
): Promise<number[]> {
  const times = calls.map((): number[] => [])
  for (let sample = 0; sample < WARM + samples; sample++) {
    for (let i = 0; i < calls.length; i++) {
      // In another order each time, so that no call always follows the same one.
      const at = (i + sample) % calls.length
      const began = performance.now()
      await calls[at]?.(first + sample)
      if (sample >= WARM) times[at]?.push(performance.now() - began)
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[samples >> 2] ?? 0)
}
