import { isUuid } from '../../../../kernel/schema.ts'
import type { CarrierAdapter } from '../adapter.ts'
import { type CarrierEvent, PROGRESS } from '../schema.ts'
import { openSimulated } from './carrier.ts'

/** How long a call takes that gets no response: long enough to be noticed in a drill. */
const SILENCE_MS = 1_500

/** A carrier of our own, for tests and demos: it has no vans. */
export const simulated: CarrierAdapter = {
  name: 'simulated',
  provider: 'simulated_carrier',
  open:
    ({ database, pdfs, silenceMs = SILENCE_MS }) =>
    (tenant) =>
      openSimulated({ db: database.tenantForOwnWork(tenant), pdfs, silenceMs }),
  readEvent,
}

const EVENT_TYPE = /^parcel\.([a-z_]+)$/

/**
 * Reads an event such as `{type: "parcel.delivered", data: {reference, at}}`; the reference is the id of the
 * label.
 */
function readEvent({ type, data }: Readonly<Record<string, unknown>>): CarrierEvent | null {
  const named = typeof type === 'string' ? EVENT_TYPE.exec(type)?.[1] : undefined
  const progress = PROGRESS.find((each) => each === named)
  const { reference, at } = (data ?? {}) as { reference?: unknown; at?: unknown }
  if (progress === undefined || typeof reference !== 'string' || !isUuid(reference)) return null
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN
  if (Number.isNaN(time)) return null
  return { ref: reference.toLowerCase(), progress, at: new Date(time).toISOString() }
}
