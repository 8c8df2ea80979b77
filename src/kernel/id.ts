import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from './clock.ts'

/** The highest value of the counter, which has 12 bits. */
const COUNTER_MAX = 0xfff

/**
 * Makes a source of ids: uuids of version 7 (RFC 9562). Each is greater than the one before, also within a millisecond
 * and after the clock was set back, so that new rows stand side by side at the end of every index on their id. 48 bits
 * are the time, 12 bits a counter, and 62 bits are random again in each id: an id reveals nothing about the next one
 * (decision 0021).
 */
export function createIds(clock: Clock): () => string {
  let time = 0
  let counter = 0
  return () => {
    const random = randomUUID()
    const at = clock.now()
    counter += 1
    if (at > time || counter > COUNTER_MAX) {
      time = Math.max(at, time + 1)
      // In the lower half, so that a millisecond has at least 2048 ids; random, as RFC 9562 advises.
      counter = Number.parseInt(random.slice(0, 3), 16) >> 1
    }
    const stamp = time.toString(16).padStart(12, '0')
    const count = counter.toString(16).padStart(3, '0')
    // The last two groups of a random uuid: the variant, and its last 62 random bits.
    return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7${count}-${random.slice(19)}`
  }
}

/**
 * Makes the id of a new row, in SQL: `fd_uuid()`. It goes by machine time, whatever the clock of the store: an id is
 * no promise to a merchant. It must not be used for secrets, whose only protection is that they cannot be guessed.
 */
export const newId: () => string = createIds(systemClock)
