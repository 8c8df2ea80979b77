import { type Demo, readDemo } from './demo-file.ts'
import { addFormPage, readForms } from './http/form-pages.ts'
import type { App } from './http/route.ts'
import { html } from './kernel/html.ts'
import { newId } from './kernel/id.ts'
import type { Runtime } from './runtime.ts'

/**
 * The page that gives store credit to a shopper of the demo store, so that a person can try it. Shoppers are known
 * only by their orders, so it is the shopper of the newest one. Production has no such page.
 */

export const CREDIT_PATH = '/dev/store-credit'
export const CREDIT = '$15.00'
const CREDIT_CENTS = 1_500

interface NewestOrder {
  id: string
  order_number: number
  customer_ref: string
  currency: string
}

export function addCreditPage(app: App, { config }: Runtime): void {
  readForms(app)
  addFormPage(app, {
    path: CREDIT_PATH,
    title: 'Store credit to try',
    form: async () =>
      html`<p>Order something in the demo store first, in the browser that you will shop with. Its next checkout then offers the credit.</p>
<form method="post"><button>Give ${CREDIT} to the shopper of the newest order</button></form>
<p><a href="/">Back</a></p>`,
    act: async () => {
      const demo = await readDemo(config)
      const order = demo && (await findNewestOrder(app, demo))
      const said = order
        ? await giveCredit(app, demo, order)
        : 'The demo store has no order yet: place one, and come back.'
      return html`<p role="status">${said}</p><p><a href="/">Back</a></p>`
    },
  })
}

const headersOf = ({ merchant_key }: Demo) => ({ authorization: `Bearer ${merchant_key}` })

async function findNewestOrder(app: App, demo: Demo): Promise<NewestOrder | null> {
  const url = '/v1/merchant/orders?limit=1'
  const { statusCode, body } = await app.inject({ url, headers: headersOf(demo) })
  if (statusCode !== 200) return null
  return (JSON.parse(body) as { orders: NewestOrder[] }).orders[0] ?? null
}

/** Adds store credit as a merchant would, by the API. */
async function giveCredit(app: App, demo: Demo, order: NewestOrder): Promise<string> {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: `/v1/merchant/store-credit/${encodeURIComponent(order.customer_ref)}/credit`,
    headers: { ...headersOf(demo), 'idempotency-key': newId() },
    payload: {
      amount_cents: CREDIT_CENTS,
      currency: order.currency,
      reason: 'To try the checkout',
    },
  })
  if (statusCode !== 201) return `The store refused it: ${body}`
  return `The shopper of order ${order.order_number} has got ${CREDIT}. The next checkout in that browser offers it.`
}
