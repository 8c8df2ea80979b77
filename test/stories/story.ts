import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Answer, TestAppOptions } from '../harness/app.ts'
import { assertBooks, runWorker } from '../harness/books.ts'
import { openWitness } from '../harness/witness.ts'
import { addVariant, enable } from '../modules/checkout/setup.ts'
import { keyed, type OrderStore, openOrderStore } from '../modules/orders/setup.ts'
import { ok, type Returns, returnsOf } from '../modules/returns/setup.ts'

/**
 * The words that the stories are told with: what a merchant and a shopper do, over HTTP. Goods have names
 * here, and quantities are given by name: `{ tea: 2, cup: 1 }`.
 */

export type Units = Readonly<Record<string, number>>

/** A price, and how many units there are at each location. */
export interface Goods {
  price: number
  at?: Units
  backorders?: boolean
}

/** An order as a story knows it: its lines by the names of the goods. */
export interface Bought {
  id: string
  number: number
  total: number
  lines: Readonly<Record<string, string>>
}

export interface Sent {
  id: string
  status: string
  location_id: string
}

export interface GoodsReturn {
  id: string
  status: string
  lines: { id: string; order_item_id: string }[]
}

/** The units that came back and their dispositions, by the names of the goods. */
export type Came = Readonly<Record<string, readonly [units: number, disposition: string]>>

/** Awkward on purpose: cents must be split. */
export const TERMS = {
  email: 'ann@example.com',
  name: 'Ann Archer',
  shipping: { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 },
  tax: { provider: 'flat_rate', rate_bps: 777 },
  shipping_address: {
    label: 'Home',
    name: 'Ann Archer',
    line1: '17 Quarrystone Lane',
    city: 'Aberdale',
    state: 'WY',
    postal_code: '82001',
    country: 'US',
  },
}

const PARCELS = '/v1/merchant/fulfillments'

export class Story {
  readonly store: OrderStore
  readonly returns: Returns
  /** The variants of the goods by name. */
  readonly goods = new Map<string, string>()

  constructor(store: OrderStore) {
    this.store = store
    this.returns = returnsOf(store)
  }

  get merchant() {
    return this.store.shop.merchant
  }

  async openLocation(id: string): Promise<void> {
    ok(await this.merchant.post('/v1/merchant/inventory/locations', { id, name: id }), 201)
  }

  /** Puts goods on sale. Their stock is tracked before the first order. */
  async sells(goods: Readonly<Record<string, Goods>>): Promise<void> {
    for (const [name, { price, at = {}, backorders = false }] of Object.entries(goods)) {
      const variant = await addVariant(this.merchant, price, { name })
      this.goods.set(name, variant)
      const settings = { track_inventory: true, allow_backorder: backorders }
      ok(await this.merchant.put(`/v1/merchant/inventory/${variant}`, settings))
      for (const [location, units] of Object.entries(at)) await this.stocks(name, location, units)
    }
  }

  async stocks(name: string, location_id: string, delta: number): Promise<void> {
    const url = `/v1/merchant/inventory/${this.variant(name)}/adjust`
    ok(await this.merchant.post(url, { delta, location_id, reason: 'came in' }))
  }

  variant(name: string): string {
    const found = this.goods.get(name)
    assert.ok(found, `the store does not sell ${name}`)
    return found
  }

  async buys(units: Units, more: object = {}): Promise<Bought> {
    const items = Object.entries(units).map(([name, quantity]) => ({
      variant_id: this.variant(name),
      quantity,
    }))
    const { order, items: lines } = await this.store.place({ items, ...TERMS, ...more })
    const names = new Map([...this.goods].map(([name, id]) => [id, name]))
    const byName = lines.map((line: { id: string; variant_id: string }) => [
      names.get(line.variant_id),
      line.id,
    ])
    return {
      id: order.id,
      number: order.order_number,
      total: order.total_cents,
      lines: Object.fromEntries(byName),
    }
  }

  linesOf({ lines }: Bought, units: Units) {
    return Object.entries(units).map(([name, quantity]) => {
      assert.ok(lines[name], `the order has no ${name}`)
      return { order_item_id: lines[name], quantity }
    })
  }

  async packs(order: Bought, units: Units, more: object = {}): Promise<Sent> {
    const body = { items: this.linesOf(order, units), ...more }
    const answer = await this.merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`, body)
    return ok(answer, 201).fulfillment
  }

  async ships({ id }: Sent, tracking: object = {}): Promise<Sent> {
    return ok(await this.merchant.post(`${PARCELS}/${id}/ship`, tracking)).fulfillment
  }

  async delivers(...parcels: Sent[]): Promise<void> {
    for (const { id } of parcels) ok(await this.merchant.post(`${PARCELS}/${id}/deliver`))
  }

  async recalls({ id }: Sent, reason: string): Promise<void> {
    ok(await this.merchant.post(`${PARCELS}/${id}/cancel`, { reason }))
  }

  /** The shopper asks to send units back, and the merchant approves. */
  async returnsUnits(order: Bought, units: Units, reason = 'broken'): Promise<GoodsReturn> {
    const lines = this.linesOf(order, units).map((line) => ({ ...line, reason }))
    const { return: asked } = ok(await this.returns.request(order.id, lines), 201)
    assert.equal(asked.status, 'requested')
    return ok(await this.returns.act(asked.id, 'approve', { instructions: 'Use the label.' }))
      .return
  }

  receiptOf(order: Bought, returned: GoodsReturn, came: Came) {
    return Object.entries(came).map(([name, [received_quantity, disposition]]) => {
      const line = returned.lines.find((each) => each.order_item_id === order.lines[name])
      assert.ok(line, `the return has no ${name}`)
      return { return_line_id: line.id, received_quantity, disposition }
    })
  }

  /** Receives units of a return, and refunds them. The preview has said the same amount. */
  async receives(
    order: Bought,
    returned: GoodsReturn,
    came: Came,
    { method = 'original', ...more }: { method?: string; location_id?: string } = {},
  ): Promise<Answer['body']> {
    const body = { lines: this.receiptOf(order, returned, came), refund: { method }, ...more }
    const { refund } = ok(await this.returns.preview(returned.id, body))
    const received = ok(await this.returns.receive(returned.id, body))
    assert.equal(received.refund?.amount_cents ?? null, refund?.amount_cents ?? null)
    return received
  }

  /** The order as the merchant reads it. */
  reads({ id }: Bought): Promise<Answer['body']> {
    return this.store.read(id)
  }

  async status(order: Bought): Promise<string> {
    return (await this.reads(order)).order.status
  }

  /** `[on_hand, allocated]` of goods at each location that has them or owes them. */
  async stockOf(name: string): Promise<Record<string, [number, number]>> {
    const { levels } = await this.returns.stockOf(this.variant(name))
    const units = levels.map(
      (level: { location_id: string; on_hand: number; allocated: number }) => [
        level.location_id,
        [level.on_hand, level.allocated],
      ],
    )
    return Object.fromEntries(
      units.filter(([, [on_hand, allocated]]: [string, [number, number]]) => on_hand || allocated),
    )
  }

  async creditOf(customer: string): Promise<number> {
    const answer = await this.merchant.get(`/v1/merchant/store-credit/${customer}`)
    return ok(answer).accounts[0].balance_cents
  }

  /** How often the shopper is mailed about an order, by the kind of mail. */
  async mailsAbout({ id }: Bought): Promise<Record<string, number>> {
    await runWorker(this.store.app)
    const { rows } = await this.store.superuser.query(
      `select kind, count(*)::int from shopper_mails where order_id = $1 group by kind order by kind`,
      [id],
    )
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]))
  }

  /** Calls a verb of an order under a key of its own. */
  does({ id }: Bought, verb: string, body: object = {}): Promise<Answer> {
    return this.merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, keyed())
  }

  /** Compares all books: the end of every story. */
  assertBooks(): Promise<void> {
    return assertBooks(this.store.app, this.store.superuser, this.merchant)
  }
}

/** A live store with the locations `default` and `east`, that gives store credit. */
export async function beginStory(t: TestContext, options: TestAppOptions = {}): Promise<Story> {
  const store = await openOrderStore(t, options)
  await openWitness(store.superuser)
  const story = new Story(store)
  await enable(story.merchant, 'store_credit', 'gift_cards')
  await story.openLocation('east')
  return story
}
