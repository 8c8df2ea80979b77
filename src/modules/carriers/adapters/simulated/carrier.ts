import { setTimeout as delay } from 'node:timers/promises'
import type { TenantDb } from '../../../../db/database.ts'
import { addressLines } from '../../../documents/address-lines.ts'
import { createFormats } from '../../../documents/formats.ts'
import type { PdfProcesses } from '../../../documents/pdf-processes.ts'
import type { BuyResult, Carrier, CarrierRate, Printed, TrackRecord } from '../carrier.ts'
import type { CarrierParcel } from '../schema.ts'
import * as queries from './queries.ts'

/** What it sells: a price for each parcel and one for each kilogram begun, in coins of any currency. */
const SERVICES = {
  standard: { name: 'Standard', base: 490, perKilogram: 120, days_min: 2, days_max: 5 },
  express: { name: 'Express', base: 1_290, perKilogram: 250, days_min: 1, days_max: 2 },
} as const

const KILOGRAM = 1_000

/** How it behaves towards an address, by its postcode. All others are served. */
const TRIGGERS: Readonly<Record<string, 'refuses' | 'silent_after' | 'silent_before'>> = {
  '00001': 'refuses',
  '00002': 'silent_after',
  '00003': 'silent_before',
}

const TITLE = 'Simulated carrier'
const NOTICE = 'Simulated: not a real label'

export interface SimulatedOptions {
  /** A handle of its own: its commits are independent of the caller's transactions. */
  db: TenantDb
  pdfs: PdfProcesses
  /** How long a call takes that gets no response. */
  silenceMs: number
}

const serviceOf = (service: string) =>
  Object.hasOwn(SERVICES, service) ? SERVICES[service as keyof typeof SERVICES] : null

const priceOf = (
  { base, perKilogram }: { base: number; perKilogram: number },
  { weight_grams }: CarrierParcel,
) => base + Math.ceil(weight_grams / KILOGRAM) * perKilogram

/**
 * The simulated carrier: it lives in our database and behaves like a real one. It has its own table,
 * commits on its own, and treats the same address always in the same way. Its labels are real PDFs.
 */
export function openSimulated({ db, pdfs, silenceMs }: SimulatedOptions): Carrier {
  return {
    name: 'simulated',
    title: TITLE,
    services: Object.keys(SERVICES),
    rates: async (shipment) =>
      Object.entries(SERVICES).map(
        ([service, each]): CarrierRate => ({
          service,
          name: each.name,
          amount_cents: priceOf(each, shipment),
          currency: shipment.currency,
          days_min: each.days_min,
          days_max: each.days_max,
        }),
      ),
    buy: (ref, service, shipment) => buy(db, { ref, service, shipment, silenceMs }),
    void: async (ref) => ((await queries.voidShipment(db, ref)) === 1 ? 'voided' : 'refused'),
    track: (ref) => track(db, ref),
    print: (ref) => print(db, pdfs, ref),
    async receive(event) {
      await queries.moveShipment(db, event)
    },
  }
}

interface Purchase {
  ref: string
  service: string
  shipment: CarrierParcel
  silenceMs: number
}

async function buy(
  db: TenantDb,
  { ref, service, shipment, silenceMs }: Purchase,
): Promise<BuyResult> {
  const sold = serviceOf(service)
  if (sold === null) return { outcome: 'refused', reason: 'no such service' }
  const behaviour = TRIGGERS[shipment.to.postal_code]
  if (behaviour === 'refuses') return { outcome: 'refused', reason: 'the address is not served' }
  if (behaviour === 'silent_before') return silence(silenceMs)
  const isNew = await queries.insertShipment(db, {
    ref,
    service,
    tracking_number: trackingNumber(ref),
    cost_cents: priceOf(sold, shipment),
    currency: shipment.currency,
    shipment,
  })
  if (isNew === 1 && behaviour === 'silent_after') return silence(silenceMs)
  const row = await queries.findShipment(db, ref)
  if (row === null) throw new Error('a simulated shipment is gone')
  return { outcome: 'bought', label: soldLabel(row) }
}

async function silence(ms: number): Promise<BuyResult> {
  await delay(ms)
  return { outcome: 'unknown' }
}

/** Digits of the reference's random end: no two of a store are alike. */
const trackingNumber = (ref: string) =>
  `SIM${BigInt(`0x${ref.slice(-12)}`)
    .toString()
    .padStart(15, '0')}`

const soldLabel = (row: queries.SimShipment) => ({
  tracking_number: row.tracking_number,
  tracking_url: `https://carrier.example/track/${row.tracking_number}`,
  cost_cents: row.cost_cents,
  currency: row.currency,
})

async function track(db: TenantDb, ref: string): Promise<TrackRecord> {
  const row = await queries.findShipment(db, ref)
  if (row === null) return { found: 'no' }
  const { state, state_at: at } = row
  const isMoving = state !== 'bought' && state !== 'voided'
  return {
    found: 'yes',
    label: soldLabel(row),
    is_voided: state === 'voided',
    progress: isMoving ? state : null,
    at,
  }
}

async function print(db: TenantDb, pdfs: PdfProcesses, ref: string): Promise<Printed> {
  const row = await queries.findShipment(db, ref)
  if (row?.shipment == null || row.state === 'voided') return { found: 'no' }
  const { from, to, weight_grams, note } = row.shipment
  const { country } = createFormats('en', 'UTC')
  const label = {
    carrier: TITLE,
    service: serviceOf(row.service)?.name ?? row.service,
    from,
    to: addressLines(to, country),
    tracking_number: row.tracking_number,
    reference: note,
    weight: `${(weight_grams / KILOGRAM).toFixed(2)} kg`,
    notice: NOTICE,
  }
  return { found: 'yes', bytes: await pdfs.draw(db.tenant, { kind: 'label', label }) }
}
