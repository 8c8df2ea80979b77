/** How long a warning of one store is not written again; repetitions in this time are counted. */
const WINDOW_MS = 60_000

/** How many warnings are remembered: more than stores cause in a minute. */
const WARNINGS_MAX = 10_000

interface Told {
  /** How many times the warning was repeated since it was written. */
  repeated: number
  /** Writes the last repetition. */
  tellLast: (repeated: number) => void
}

/**
 * Decides which warnings are written to the log. Requests can cause a warning a thousand times a second: it is
 * written at once, and again at the end of its minute with the number of its repetitions.
 */
export class RepeatedWarnings {
  readonly #windowMs: number
  readonly #told = new Map<string, Told>()

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs
  }

  /** Writes a warning, unless it was written lately. `key` names the message and the store. */
  tell(key: string, write: (repeated: number) => void): void {
    const told = this.#told.get(key)
    if (told !== undefined) {
      told.repeated += 1
      told.tellLast = write
      return
    }
    if (this.#told.size < WARNINGS_MAX) {
      this.#told.set(key, { repeated: 0, tellLast: write })
      setTimeout(() => this.#endWindow(key), this.#windowMs).unref()
    }
    write(0)
  }

  #endWindow(key: string): void {
    const told = this.#told.get(key)
    this.#told.delete(key)
    if (told !== undefined && told.repeated > 0) told.tellLast(told.repeated)
  }
}
