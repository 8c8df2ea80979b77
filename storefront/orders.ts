import { type Answer, redirect } from './answer.ts'
import { checkoutKey, readQuantity } from './cart.ts'
import { type OrderView, orderMain } from './pages/order.ts'
import { readCard } from './pay.ts'
import { PlatformError } from './platform.ts'
import { notFound, show } from './reads.ts'
import { clearCart, isRefusal, keepCart, newDeed, type TillVisit } from './till.ts'
import type { OrderDetail } from './types.ts'
import { cardFaults, explain } from './words.ts'

/** A shopper's own order: seen, changed and cancelled from the browser that placed it. */

const DONE: Record<string, string> = {
  edited: 'Your order is changed.',
  cancelled: 'Your order is cancelled.',
}

const ELSEWHERE =
  'We cannot show this order here. An order can be seen in the browser that placed it.'

type Shown = Partial<Pick<OrderView, 'notice' | 'edit'>>

export async function orderPage(visit: TillVisit, id: string, shown: Shown = {}): Promise<Answer> {
  const detail = await find(visit, id)
  if (detail === null) return notFound(visit, ELSEWHERE)
  const { notice = null, edit = NO_EDIT } = shown
  const query = visit.url.searchParams
  const main = orderMain(visit, {
    detail,
    notice,
    edit,
    isNew: query.has('new') && detail.order.status !== 'cancelled',
    good: notice === null ? (DONE[query.get('done') ?? ''] ?? null) : null,
    deed: newDeed(),
  })
  const title = `Order ${detail.order.order_number} · ${visit.site.brand.name}`
  return { ...(await show(visit, { title, main })), cookies: afterwards(visit, detail) }
}

const NO_EDIT: OrderView['edit'] = { quantities: new Map(), needsCard: false, faults: {} }

async function find({ shop, site, shopper }: TillVisit, id: string): Promise<OrderDetail | null> {
  return shopper === null ? null : shop.findOrder(site, id, shopper.ref)
}

/** An order whose payment was unknown has left its cart behind; now it is known what to do with it. */
function afterwards(visit: TillVisit, { order }: OrderDetail): string[] {
  const { cart, shopper } = visit
  const own = shopper?.orders.find(({ id }) => id === order.id)
  if (own === undefined || own.key !== checkoutKey(cart)) return []
  if (order.status === 'pending_payment') return []
  if (order.status !== 'payment_failed') return [clearCart(visit)]
  return [keepCart(visit, { ...cart, refusals: cart.refusals + 1 })]
}

export async function cancelOrder(visit: TillVisit, id: string, form: URLSearchParams) {
  if ((await find(visit, id)) === null) return notFound(visit, ELSEWHERE)
  try {
    await visit.shop.cancel(visit.site, id, `shop-cancel-${deedOf(form)}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return orderPage(visit, id, { notice: explain(error) })
  }
  return redirect(`/orders/${id}?done=cancelled`)
}

const deedOf = (form: URLSearchParams): string =>
  /^[A-Za-z0-9_-]{16}$/.exec(form.get('deed') ?? '')?.[0] ?? newDeed()

export async function editOrder(visit: TillVisit, id: string, form: URLSearchParams) {
  const detail = await find(visit, id)
  if (detail === null) return notFound(visit, ELSEWHERE)
  const typed = new Map(detail.items.map((item) => [item.id, form.get(`q:${item.id}`) ?? '']))
  const edits = detail.items.flatMap((item) => {
    const quantity = readQuantity(typed.get(item.id) || String(item.quantity), 0)
    return quantity === item.quantity ? [] : [{ order_item_id: item.id, quantity }]
  })
  if (edits.length === 0) return redirect(`/orders/${id}`)
  const card = readCard(form)
  const body = { edits, actor: 'shopper', ...(card === undefined ? {} : { card }) }
  try {
    await visit.shop.edit(visit.site, id, body, `shop-edit-${deedOf(form)}`)
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    const needsCard = card !== undefined || error.code === 'card_required'
    const faults = cardFaults(error)
    const notice = Object.keys(faults).length > 0 ? 'Please look at the card.' : explain(error)
    const said = error.code === 'card_required' ? 'Please enter a card for the difference.' : notice
    return orderPage(visit, id, { notice: said, edit: { quantities: typed, needsCard, faults } })
  }
  return redirect(`/orders/${id}?done=edited`)
}
