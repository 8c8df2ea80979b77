import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Answer, Caller } from '../../../harness/app.ts'
import { addVariant, type Shop } from '../../checkout/setup.ts'
import { newVendor } from '../../purchasing/setup.ts'

/**
 * A plain model of where units are: at three locations, in parcels, with shoppers and on their way
 * from vendors. Random steps run against the API and against the model, and both agree after each.
 * Beside `stock-model/`, which is about what orders hold while their money moves.
 */

/** The default location comes first, as checkouts take it. */
export const PLACES = ['default', 'east', 'west'] as const
export const ALL_VARIANTS = [0, 1, 2] as const

export interface Level {
  on_hand: number
  allocated: number
  packed: number
  incoming: number
}

export interface Parcel {
  id: string
  place: number
  state: 'pending' | 'shipped' | 'ended'
  units: Map<number, number>
}

export interface Order {
  id: string
  isCancelled: boolean
  /** By `variant place`: the units that it has allocated, and those of them in pending parcels. */
  held: Map<string, { allocated: number; packed: number }>
  parcels: Parcel[]
}

export interface Purchase {
  id: string
  place: number
  isOpen: boolean
  lines: { id: string; variant: number; quantity: number; received: number; rejected: number }[]
}

/** Sends a request until it has an answer. */
export type Settle = (
  send: () => Promise<Answer>,
  /** Looks whether a request was carried out whose answer was lost; for those that have no key. */
  find?: () => Promise<Answer | null>,
) => Promise<Answer>

export interface UnitModel {
  app: UnitApp
  shop: Shop
  vendor: string
  variants: string[]
  /** By variant and place. */
  levels: Level[][]
  /** The last variant can be bought while there is none. */
  orders: Order[]
  purchases: Purchase[]
  random: () => number
  settle: Settle
  /** Processes are killed: the payment of a checkout or a refund may fail for it. */
  paymentsMayFail: boolean
}

/** What the model needs of an app, which may be another process. */
export interface UnitApp {
  storefront: Caller
  superuser: {
    query<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<{ rows: Row[] }>
  }
}

/** The same seed chooses the same steps. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function openUnitModel(
  app: UnitApp,
  shop: Shop,
  random: () => number,
  settle?: Settle,
): Promise<UnitModel> {
  const { merchant } = shop
  for (const id of PLACES.slice(1)) {
    const made = await merchant.post('/v1/merchant/inventory/locations', { id, name: id })
    assert.equal(made.status, 201, made.text)
  }
  const variants: string[] = []
  for (const at of ALL_VARIANTS) {
    const id = await addVariant(merchant, 1_000)
    const settings = { track_inventory: true, allow_backorder: at === 2 }
    const set = await merchant.put(`/v1/merchant/inventory/${id}`, settings)
    assert.equal(set.status, 200, set.text)
    variants.push(id)
  }
  const { id: vendor } = await newVendor(merchant)
  const empty = () => ({ on_hand: 0, allocated: 0, packed: 0, incoming: 0 })
  const levels = variants.map(() => PLACES.map(empty))
  const how = {
    random,
    settle: settle ?? ((send) => send()),
    paymentsMayFail: settle !== undefined,
  } satisfies Partial<UnitModel>
  return { app, shop, vendor, variants, levels, orders: [], purchases: [], ...how }
}

export const upTo = ({ random }: UnitModel, max: number) => Math.floor(random() * (max + 1))
export const chosen = <T>(model: UnitModel, all: readonly T[]): T | undefined =>
  all[Math.floor(model.random() * all.length)]
export const levelAt = ({ levels }: UnitModel, variant: number, place: number): Level =>
  levels[variant]?.[place] as Level
export const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? 'done' : body.error.code
export const freeOf = ({ on_hand, allocated }: Level) => on_hand - allocated
export const sum = (numbers: Iterable<number>) =>
  [...numbers].reduce((total, each) => total + each, 0)
export const living = ({ orders }: UnitModel) => orders.filter(({ isCancelled }) => !isCancelled)
export const keyed = () => ({ 'idempotency-key': randomUUID() })
