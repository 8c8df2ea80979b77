import type { CarrierEvent, CarrierParcel, Progress, SoldLabel } from './schema.ts'

export interface CarrierRate {
  service: string
  name: string
  amount_cents: number
  currency: string
  days_min: number
  days_max: number
}

export type BuyResult =
  | { outcome: 'bought'; label: SoldLabel }
  | { outcome: 'refused'; reason: string }
  /** No usable response: the label may have been sold. Only `track` can tell. */
  | { outcome: 'unknown' }

export type VoidResult = 'voided' | 'refused' | 'unknown'

/** The carrier's own record of a label. */
export type TrackRecord =
  | {
      found: 'yes'
      label: SoldLabel
      is_voided: boolean
      progress: Progress | null
      at: string
    }
  | { found: 'no' | 'unreachable' }

export type Printed = { found: 'yes'; bytes: Buffer } | { found: 'no' | 'unreachable' }

/**
 * A carrier that sells labels. Every call resolves within its deadline, and none rejects: a call without a
 * usable response is `unknown`, `unreachable` or null.
 *
 * A carrier sells one label for a reference, however often it gets it, and voids it as often as it is asked.
 * An adapter for a carrier without such references looks its own records up before it buys.
 */
export interface Carrier {
  /** The name of its adapter. */
  readonly name: string
  /** As parcels show it. */
  readonly title: string
  readonly services: readonly string[]
  rates(shipment: CarrierParcel): Promise<CarrierRate[] | null>
  buy(ref: string, service: string, shipment: CarrierParcel): Promise<BuyResult>
  void(ref: string): Promise<VoidResult>
  track(ref: string): Promise<TrackRecord>
  /** The label as a PDF. */
  print(ref: string): Promise<Printed>
  /**
   * Writes an event to the carrier's own record. A real carrier has it there already, and its adapter does
   * nothing; the simulated one has no vans, so that its signed events are what moves its parcels.
   */
  receive(event: CarrierEvent): Promise<void>
}

export interface BoundOptions {
  deadlineMs: number
  /** The deadline of a label that may have to be drawn, and to wait for its turn. */
  printDeadlineMs: number
  /** Reports an error of an adapter, which callers only see as a missing response. */
  onFault: (error: unknown) => void
}

/** Wraps a carrier so that its calls end by the deadline and never reject. */
export function boundedCarrier(
  carrier: Carrier,
  { deadlineMs, printDeadlineMs, onFault }: BoundOptions,
): Carrier {
  const within = async <T>(work: Promise<T>, otherwise: T, ms = deadlineMs): Promise<T> => {
    const { promise: late, resolve } = Promise.withResolvers<T>()
    const timer = setTimeout(() => resolve(otherwise), ms)
    // The call may still fail after the deadline, when no caller waits for it.
    const answered = work.catch((error: unknown) => {
      onFault(error)
      return otherwise
    })
    return Promise.race([answered, late]).finally(() => clearTimeout(timer))
  }
  return {
    ...carrier,
    rates: (shipment) => within(carrier.rates(shipment), null),
    buy: (ref, service, shipment) =>
      within<BuyResult>(carrier.buy(ref, service, shipment), { outcome: 'unknown' }),
    void: (ref) => within<VoidResult>(carrier.void(ref), 'unknown'),
    track: (ref) => within<TrackRecord>(carrier.track(ref), { found: 'unreachable' }),
    print: (ref) => within<Printed>(carrier.print(ref), { found: 'unreachable' }, printDeadlineMs),
  }
}
