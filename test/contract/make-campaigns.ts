import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'

export const CAMPAIGNS = '/v1/merchant/marketing/campaigns'

async function create(merchant: Caller, more: object) {
  const made = await merchant.post(CAMPAIGNS, { name: 'a canary', ...more })
  assert.ok(made.body.campaign, made.text)
  return { id: made.body.campaign.id as string }
}

export const makeCampaign = (merchant: Caller) => create(merchant, { channel: 'social' })

export async function startCampaign(merchant: Caller) {
  const { id } = await makeCampaign(merchant)
  const started = await merchant.post(`${CAMPAIGNS}/${id}/schedule`, {})
  assert.equal(started.status, 200, started.text)
  return { id }
}

/** A mail that can be tested: the store has an owner. */
export async function makeMailCampaign(merchant: Caller, app: TestApp) {
  const admin = await app.database.openAdmin()
  await admin.query(
    `update stores set owner_email = 'owner@canary.example' where tenant_ref = 'acme'`,
  )
  return create(merchant, { channel: 'email', subject: 'a canary', body_markdown: 'a canary' })
}

/** A campaign with recipients, as the worker writes them down. */
export async function addRecipients(merchant: Caller, app: TestApp) {
  const { id } = await makeMailCampaign(merchant, app)
  const admin = await app.database.openAdmin()
  for (const _ of [1, 2, 3]) {
    await admin.query(
      `insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded)
       values ('acme', $1, $2, $2)`,
      [id, `${randomUUID()}@canary.example`],
    )
  }
  return { id }
}
