/** The offsets of the stores' clocks, as this process knows them. */
export interface StoreClocks {
  /** How many milliseconds a store's clock is ahead of the machine's. It is read each time a store is opened. */
  offsetMs(tenant: string): number
  /** The stores whose clock is ahead and stands still, with their offsets in milliseconds. */
  ahead(): ReadonlyMap<string, number>
  /** The stores whose clock is being moved: the process that moves it does their due work, no loop does. */
  moving(): ReadonlySet<string>
}

/** The clocks of an installation where every store has machine time. */
export const UNMOVED: StoreClocks = {
  offsetMs: () => 0,
  ahead: () => new Map(),
  moving: () => new Set(),
}
