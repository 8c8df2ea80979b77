/** Places that wait, by their caller. The callers take turns, so that one with many does not delay the others. */
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

  /** Takes the first place of the caller whose turn it is; that caller is then behind the others. */
  next(): T | undefined {
    const [turn] = this.#places
    if (turn === undefined) return undefined
    const [caller, places] = turn
    const place = places.shift()
    this.#places.delete(caller)
    if (places.length > 0) this.#places.set(caller, places)
    this.#size -= 1
    return place
  }
}
