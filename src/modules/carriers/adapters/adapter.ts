import type { Database } from '../../../db/database.ts'
import type { PdfProcesses } from '../../documents/pdf-processes.ts'
import type { Carrier } from './carrier.ts'
import type { CarrierEvent } from './schema.ts'

/** What the platform knows of a carrier, besides its stores. */
export interface CarrierAdapter {
  /** Stored with labels, so it never changes. */
  readonly name: string
  /** Its name as a provider of events. */
  readonly provider: string
  /** Opens the carrier, for one store at a time. */
  open(deps: CarrierDeps): (tenant: string) => Carrier
  /** Reads an event of the provider; null for one that is not about a parcel. */
  readEvent(body: Readonly<Record<string, unknown>>): CarrierEvent | null
}

export interface CarrierDeps {
  database: Database
  pdfs: PdfProcesses
  /** For tests: how long a call of the simulated carrier takes that gets no response. */
  silenceMs?: number
}
