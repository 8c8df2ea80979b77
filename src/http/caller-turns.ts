/**
 * Places in a queue, by their caller. The callers take turns, so that one with many places does not delay the others.
 */
export class CallerTurns<T> {
  readonly #places = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(caller: string, place: T): void {
    const places = this.#places.get(caller)
    if (places === undefined) this.#places.set(caller, [place])
    else places.push(place)
    this.#size += 1
  }

  /**
   * Takes the places that a test picks. The places of a caller are tested in the order in which they came, up to the
   * first that is not picked.
   */
  takeFirst(isPicked: (place: T) => boolean): T[] {
    const taken: T[] = []
    for (const [caller, places] of this.#places) {
      const kept = places.findIndex((place) => !isPicked(place))
      taken.push(...places.splice(0, kept === -1 ? places.length : kept))
      if (places.length === 0) this.#places.delete(caller)
    }
    this.#size -= taken.length
    return taken
  }

  /** Whether a place waits of a caller who may have a turn. */
  has(mayTurn: (caller: string) => boolean): boolean {
    return this.#places.keys().some(mayTurn)
  }

  /** Takes the first place of the caller whose turn it is; that caller then goes behind the others. */
  next(mayTurn: (caller: string) => boolean = () => true): T | undefined {
    const turn = this.#places.entries().find(([caller]) => mayTurn(caller))
    if (turn === undefined) return undefined
    const [caller, places] = turn
    const place = places.shift()
    this.#places.delete(caller)
    if (places.length > 0) this.#places.set(caller, places)
    this.#size -= 1
    return place
  }
}
