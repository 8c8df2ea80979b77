import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

const CAMPAIGNS = '/v1/merchant/marketing/campaigns'

async function create(merchant: Caller, more: object) {
  const made = await merchant.post(CAMPAIGNS, { name: 'a canary', ...more })
  assert.ok(made.body.campaign, made.text)
  return { id: made.body.campaign.id as string }
}

const makeCampaign = (merchant: Caller) => create(merchant, { channel: 'social' })

async function startCampaign(merchant: Caller) {
  const { id } = await makeCampaign(merchant)
  const started = await merchant.post(`${CAMPAIGNS}/${id}/schedule`, {})
  assert.equal(started.status, 200, started.text)
  return { id }
}

/** A mail that can be tested: the store has an owner. */
async function makeMailCampaign(merchant: Caller, app: TestApp) {
  const admin = await app.database.openAdmin()
  await admin.query(
    `update stores set owner_email = 'owner@canary.example' where tenant_ref = 'acme'`,
  )
  return create(merchant, { channel: 'email', subject: 'a canary', body_markdown: 'a canary' })
}

/** A campaign that is being sent, and one mail may or may not have been sent. */
async function loseMails(merchant: Caller, app: TestApp) {
  const { id } = await addRecipients(merchant, app)
  const admin = await app.database.openAdmin()
  await admin.query(
    `update campaigns set status = 'paused', pause_reason = 'merchant', starts_at = now()
      where id = $1`,
    [id],
  )
  await admin.query(
    `insert into campaign_mailings (tenant_ref, id, state, stopped, due_at, recipients_count,
                                    unknown_count)
     values ('acme', $1, 'sending', true, null, 3, 3)`,
    [id],
  )
  await admin.query(
    `update campaign_recipients set state = 'unknown', next_attempt_at = null where campaign_id = $1`,
    [id],
  )
  return { id }
}

/** A campaign with recipients, as the worker writes them down. */
async function addRecipients(merchant: Caller, app: TestApp) {
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

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/marketing/campaigns/:id': makeCampaign,
    'PATCH /v1/merchant/marketing/campaigns/:id': makeCampaign,
    'DELETE /v1/merchant/marketing/campaigns/:id': makeCampaign,
    'POST /v1/merchant/marketing/campaigns/:id/schedule': makeCampaign,
    'POST /v1/merchant/marketing/campaigns/:id/pause': startCampaign,
    'POST /v1/merchant/marketing/campaigns/:id/resume': async (merchant) => {
      const { id } = await startCampaign(merchant)
      await merchant.post(`${CAMPAIGNS}/${id}/pause`)
      return { id }
    },
    'POST /v1/merchant/marketing/campaigns/:id/cancel': makeCampaign,
    'POST /v1/merchant/marketing/campaigns/:id/test': makeMailCampaign,
    'POST /v1/merchant/marketing/campaigns/:id/resend-unknown': loseMails,
    'GET /v1/merchant/marketing/campaigns/:id/recipients': addRecipients,
    'GET /v1/merchant/marketing/campaigns/:id/performance': makeCampaign,
  },
  bodies: {
    'PATCH /v1/merchant/marketing/campaigns/:id': { name: 'a canary' },
    'POST /v1/merchant/marketing/campaigns/:id/schedule': {},
  },
  texts: (canary) => [
    ['POST', CAMPAIGNS, { name: canary, channel: 'email', subject: canary, body_markdown: canary }],
  ],
  rows: {
    campaign_mailings: `insert into campaign_mailings (tenant_ref, id)
                      select tenant_ref, id from campaigns where tenant_ref = $1 limit 1`,
    campaign_recipients: `insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded)
                        select tenant_ref, id, 'x@x.example', 'x@x.example'
                          from campaigns where tenant_ref = $1 limit 1`,
  },
  beyond: {
    campaigns: (merchant) => merchant.post(CAMPAIGNS, { name: 'May', channel: 'social' }),
  },
}
