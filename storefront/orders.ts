import { type Answer, redirect } from './answer.ts'
import { readQuantity } from './cart.ts'
import { deedOf, explainDeed, isRefusal, newDeed } from './deeds.ts'
import { cardFaults, explain, findName } from './explain.ts'
import type { TillVisit } from './kept.ts'
import { type OrderView, orderMain } from './pages/order.ts'
import { readCard } from './pay.ts'
import { notFound, show } from './reads.ts'
import type { OrderDetail } from './types.ts'
import { afterwards } from './waiting.ts'

/** A shopper's own order: seen, changed and cancelled from the browser that placed it. */

type Shown = Partial<Pick<OrderView, 'notice' | 'edit' | 'refund'>>

export const elsewhere = (visit: TillVisit): Promise<Answer> =>
  notFound(visit, visit.site.words.say.elsewhere)

export async function orderPage(given: TillVisit, id: string, shown: Shown = {}): Promise<Answer> {
  const detail = await find(given, id)
  if (detail === null) return elsewhere(given)
  const { visit, cookies } = afterwards(given, id, detail)
  const { notice = null, edit = NO_EDIT, refund = NO_REFUND } = shown
  const { say } = visit.site.words
  const query = visit.url.searchParams
  const main = orderMain(visit, {
    detail,
    notice,
    edit,
    refund,
    isNew: query.has('new') && detail.order.status !== 'cancelled',
    good: notice === null ? findName(say.done, query.get('done')) : null,
    deed: newDeed(),
  })
  const title = `${say.order(detail.order.order_number)} · ${visit.site.brand.name}`
  // A name and an address stay in no browser that others use, too.
  const headers = { 'cache-control': 'no-store' }
  return { ...(await show(visit, { title, main })), headers, cookies }
}

const NO_EDIT: OrderView['edit'] = { quantities: new Map(), needsCard: false, faults: {} }
const NO_REFUND: OrderView['refund'] = { charge: '', amount: null, reason: '', fault: null }

export async function find(
  { shop, site, shopper }: TillVisit,
  id: string,
): Promise<OrderDetail | null> {
  return shopper === null ? null : shop.findOrder(site, id, shopper.ref)
}

export async function cancelOrder(visit: TillVisit, id: string, form: URLSearchParams) {
  if ((await find(visit, id)) === null) return elsewhere(visit)
  try {
    await visit.shop.cancel(visit.site, id, `shop-cancel-${deedOf(form)}`)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return orderPage(visit, id, { notice: explain(visit.site.words, error) })
  }
  return redirect(`/orders/${id}?done=cancelled`)
}

export async function editOrder(visit: TillVisit, id: string, form: URLSearchParams) {
  const detail = await find(visit, id)
  if (detail === null) return elsewhere(visit)
  const typed = new Map(detail.items.map((item) => [item.id, form.get(`q:${item.id}`) ?? '']))
  const edits = detail.items.flatMap((item) => {
    const quantity = readQuantity(typed.get(item.id) || String(item.quantity), 0)
    return quantity === item.quantity ? [] : [{ order_item_id: item.id, quantity }]
  })
  if (edits.length === 0) return redirect(`/orders/${id}`)
  const card = readCard(form)
  const body = { edits, actor: 'shopper', ...(card === undefined ? {} : { card }) }
  const key = `shop-edit-${deedOf(form)}`
  try {
    await visit.shop.edit(visit.site, id, body, key)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const needsCard = card !== undefined || error.code === 'card_required'
    const { words } = visit.site
    const faults = cardFaults(words, error)
    const isFaulty = Object.keys(faults).length > 0
    const refusal = await explainDeed(visit, error, { operation: 'edit', key })
    const notice = isFaulty ? words.say.lookAtCard : refusal
    return orderPage(visit, id, { notice, edit: { quantities: typed, needsCard, faults } })
  }
  return redirect(`/orders/${id}?done=edited`)
}
