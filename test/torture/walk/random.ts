import { createHash } from 'node:crypto'

/** A source of random choices that a seed repeats. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** A whole number, both ends included. */
  int(from: number, to: number): number
  happens(percent: number): boolean
  pick<T>(from: readonly T[]): T
  /** A choice by weight. */
  weigh<T>(choices: readonly (readonly [weight: number, choice: T])[]): T
  /** A text of 12 letters and digits. */
  mark(): string
}

/**
 * One actor's own choices: they depend on the seed and the actor's name, and not on what the others
 * do. The moments at which actors meet still differ from run to run.
 */
export function randomOf(seed: string, actor: string): Random {
  let state = createHash('sha256').update(`${seed}/${actor}`).digest().readUInt32LE(0)
  // Mulberry32.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  const pick = <T>(from: readonly T[]): T => {
    const found = from[int(0, from.length - 1)]
    if (found === undefined) throw new Error('there is nothing to pick from')
    return found
  }
  return {
    next,
    int,
    pick,
    happens: (percent) => next() * 100 < percent,
    weigh(choices) {
      const total = choices.reduce((sum, [weight]) => sum + weight, 0)
      let left = next() * total
      for (const [weight, choice] of choices) {
        left -= weight
        if (left < 0) return choice
      }
      return pick(choices)[1]
    },
    mark: () =>
      Array.from({ length: 12 }, () => pick([...'abcdefghijkmnpqrstuvwxyz23456789'])).join(''),
  }
}
