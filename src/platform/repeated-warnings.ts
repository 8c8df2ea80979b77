/** A warning is told once in this time for each store; those in between are counted. */
const WINDOW_MS = 60_000

/** Warnings that are remembered: more than stores warn of in a minute. */
const WARNINGS_MAX = 10_000

interface Told {
  /** How often it was repeated since it was told. */
  repeated: number
  /** Tells the last repetition. */
  tellLast: (repeated: number) => void
}

/**
 * Decides which warnings are told. A warning that requests cause can be caused a thousand times a
 * second: it is told at once, and at the end of its minute again with the number of its repetitions.
 */
export class RepeatedWarnings {
  readonly #windowMs: number
  readonly #told = new Map<string, Told>()

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs
  }

  /** Tells a warning, unless it was told lately. `key` names the message and the store. */
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
