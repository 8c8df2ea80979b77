import type { Caller } from '../../harness/app.ts'
import { ok } from '../../modules/returns/setup.ts'
import { freshKey } from '../ids.ts'

const AFFILIATES = '/v1/merchant/affiliates'

interface Recruiting {
  merchant: Caller
  storefront: Caller
  /** Buys with members of a checkout. Answers the id of the order. */
  buy: (more: object) => Promise<string>
}

/** A blogger applies, sells twice and is paid once; two others come to nothing. */
export async function recruit({ merchant, storefront, buy }: Recruiting): Promise<void> {
  const settings = { applications_open: true, rate_bps: 1_250 }
  ok(await merchant.patch(`${AFFILIATES}/settings`, settings))
  ok(await merchant.get(`${AFFILIATES}/settings`))
  const path = '/v1/tenants/acme/affiliates'
  ok(await storefront.get(`${path}/program`))
  const application = {
    name: 'Fay Friend',
    email: 'fay@example.com',
    website: 'https://tea-notes.example',
    message: 'I write about tea.',
  }
  ok(await storefront.post(`${path}/applications`, application), 202)
  const [fay] = ok(await merchant.get(`${AFFILIATES}?status=applied`)).affiliates
  const url = `${AFFILIATES}/${fay.id}`
  ok(await merchant.post(`${url}/codes`, { code: 'FAY' }), 201)
  ok(await merchant.post(`${url}/approve`))
  ok(await merchant.patch(url, { payout_account: 'DE02 1203 0000 0000 2020 51' }))
  const { referral_code, referral_touch } = ok(
    await storefront.post(`${path}/touches`, { code: 'fay' }),
  )
  await earn(merchant, [
    await buy({ referral_code, referral_touch }),
    await buy({ referral_code, referral_touch }),
  ])
  await payOut(merchant)
  const { token } = ok(await merchant.post(`${url}/link`), 201)
  ok(await storefront.post(`${path}/page`, { token }))
  ok(await merchant.get(url))
  ok(await merchant.get(`${url}/export`))
  await invite(merchant)
}

/** One order is approved before its time, and one is declined. */
async function earn(merchant: Caller, [first, second]: readonly string[]): Promise<void> {
  const of = async (order_id: string | undefined) => {
    const query = `order_id=${order_id}&limit=5`
    const { commissions } = ok(await merchant.get(`${AFFILIATES}/commissions?${query}`))
    return `${AFFILIATES}/commissions/${commissions[0].id}`
  }
  const approved = await of(first)
  ok(await merchant.get(approved))
  ok(await merchant.post(`${approved}/approve`))
  const reason = { reason: 'The link was in an advertisement with our name.' }
  ok(await merchant.post(`${await of(second)}/decline`, reason))
}

/** The bank refuses the first payout, and pays the second. */
async function payOut(merchant: Caller): Promise<void> {
  const url = `${AFFILIATES}/payouts`
  const make = async () => ok(await merchant.post(url, {}, freshKey()), 201).payouts[0].id as string
  const refused = await make()
  ok(await merchant.get(`${url}/${refused}`))
  ok(await merchant.post(`${url}/${refused}/cancel`))
  ok(await merchant.post(`${url}/${await make()}/mark-paid`))
  ok(await merchant.get(`${url}?limit=2`))
}

async function invite(merchant: Caller): Promise<void> {
  const gil = { name: 'Gil Gull', email: 'gil@example.com', code: 'GIL', cookie_days: 14 }
  const { affiliate } = ok(await merchant.post(AFFILIATES, gil), 201)
  const url = `${AFFILIATES}/${affiliate.id}`
  ok(await merchant.post(`${url}/suspend`))
  ok(await merchant.post(`${url}/resume`))
  ok(await merchant.patch(`${url}/codes/GIL`, { active: false }))
  ok(await merchant.post(`${url}/erase`, {}))
  const invited = { name: 'Hal', email: 'hal@example.com', status: 'invited' }
  const { id } = ok(await merchant.post(AFFILIATES, invited), 201).affiliate
  ok(await merchant.post(`${AFFILIATES}/${id}/decline`, { reason: 'He has moved away.' }))
}
