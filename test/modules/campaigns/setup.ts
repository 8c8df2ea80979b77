import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import {
  createMailingWorker,
  type MailingWorkerOptions,
  moveDue,
} from '../../../src/modules/campaigns/jobs.ts'
import { openCampaignSending } from '../../../src/modules/campaigns/open.ts'
import {
  type BulkTransport,
  createBulkTransport,
  type Outcome,
} from '../../../src/platform/bulk-smtp.ts'
import type { SlotWorker } from '../../../src/platform/slot-worker.ts'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { type ReadMail, readMail } from '../../harness/mime.ts'
import { type ReceivedMail, startSmtp } from '../../harness/smtp.ts'
import { openSuperuser } from '../../harness/superuser.ts'

export const URL = '/v1/merchant/marketing/campaigns'
const SEGMENTS = '/v1/merchant/marketing/segments'

export interface CampaignApp extends TestApp {
  smtpUrl: string
  received: ReceivedMail[]
  /** Starts and ends all campaigns that are due. */
  moveDue(): Promise<number>
  worker(more?: Partial<MailingWorkerOptions>): SlotWorker
  /** Sends all that is due, and returns the mails that the mail server has got meanwhile. */
  sendAll(worker?: SlotWorker): Promise<ReadMail[]>
  sql<T extends object = Record<string, unknown>>(query: string, values?: unknown[]): Promise<T[]>
  /** A store with its merchant. */
  newStore(): Promise<{ tenant: string; merchant: Caller }>
}

export interface CampaignAppOptions extends TestAppOptions {
  smtp?: SMTPServerOptions
}

export const SIGNAL = new AbortController().signal

/** A transport of mails with the outcome that a test wants for each. */
export const answering = (answer: (to: string) => Promise<Outcome> | Outcome): BulkTransport => ({
  deliver: async ({ to }) => answer(to),
  close: () => {},
})

export const DOWN = answering(() => ({ state: 'unavailable', error: 'connect ECONNREFUSED' }))

/** Works on all that is due. */
export async function drain(worker: SlotWorker): Promise<void> {
  while ((await worker.step(SIGNAL)) > 0) await worker.drain()
  await worker.drain()
}

/** The platform with a mail server of its own. */
export async function openCampaignApp(
  t: TestContext,
  { smtp, ...options }: CampaignAppOptions = {},
): Promise<CampaignApp> {
  const { url, received } = await startSmtp(t, smtp)
  const env = {
    CHECKOUT_VELOCITY_PER_MINUTE: '1000000',
    CAMPAIGN_MAILS_PER_MINUTE: '1000000',
    MAIL_FROM: 'Fairdock <news@fairdock.example>',
    PUBLIC_URL: 'http://platform.example',
    ...options.env,
  }
  const app = await openTestApp(t, { ...options, env })
  const superuser = await openSuperuser(t, app.database)
  const { workerDatabase: database } = app.runtime
  // The mail server ends after its last connection.
  const transport = createBulkTransport(url, { idleMs: 200 })
  const worker = (more: Partial<MailingWorkerOptions> = {}) =>
    createMailingWorker({ ...openCampaignSending(app.runtime, transport), database, ...more })
  const usual = worker()
  return {
    ...app,
    smtpUrl: url,
    received,
    moveDue: () => moveDue(database),
    worker,
    async sendAll(by = usual) {
      const before = received.length
      await drain(by)
      return received.slice(before).map(readMail)
    },
    sql: async (query, values) => (await superuser.query(query, values)).rows,
    async newStore() {
      const tenant = `store-${randomUUID().slice(0, 8)}`
      return { tenant, merchant: await app.merchant(tenant) }
    },
  }
}

/** One app for all tests of a suite. Call it in the suite. */
export function shareCampaignApp(options: CampaignAppOptions = {}): { current: CampaignApp } {
  const held = {} as { current: CampaignApp }
  const ends: (() => unknown)[] = []
  before(async () => {
    const scope = { after: (end: () => unknown) => ends.unshift(end) }
    held.current = await openCampaignApp(scope as unknown as TestContext, options)
  })
  after(async () => {
    for (const end of ends) await end()
  })
  return held
}

/** Readers who have confirmed that they want mails, and so are people of the store. */
export async function addReaders(
  { sql }: Pick<CampaignApp, 'sql'>,
  tenant: string,
  count: number,
  name = 'reader',
): Promise<string[]> {
  const rows = await sql<{ email: string }>(
    `insert into newsletter_subscribers (tenant_ref, email, email_folded, status, confirmed_at)
     select $1, address, address, 'subscribed', now()
       from (select $3 || '-' || n || '@readers.example' as address
               from generate_series(1, $2::int) n) as a
     returning email`,
    [tenant, count, name],
  )
  return rows.map(({ email }) => email).sort()
}

/** Creates a segment: all people who have consented, unless overridden. */
export async function createSegment(merchant: Caller, more: object = {}): Promise<string> {
  const body = {
    name: randomUUID(),
    match: 'all',
    conditions: [{ field: 'consent', op: 'is', value: 'given' }],
    ...more,
  }
  const answer = await merchant.post(SEGMENTS, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.segment.id
}

export const removeSegment = (merchant: Caller, id: string) =>
  merchant.send('DELETE', `${SEGMENTS}/${id}`)

/** Creates a draft, of the channel `social` unless overridden. */
export async function createCampaign(merchant: Caller, more: object = {}) {
  const answer = await merchant.post(URL, { name: 'May', channel: 'social', ...more })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.campaign
}

export async function act(merchant: Caller, id: string, verb: string, body?: object) {
  const answer = await merchant.post(`${URL}/${id}/${verb}`, body)
  assert.equal(answer.status, 200, `${verb}: ${answer.text}`)
  return answer.body.campaign
}

export const readCampaign = async (merchant: Caller, id: string) =>
  (await merchant.get(`${URL}/${id}`)).body.campaign

export const recipientsOf = async (merchant: Caller, id: string, state = '') =>
  (await merchant.get(`${URL}/${id}/recipients?limit=100&state=${state}`)).body.recipients as {
    email: string
    state: string
    reason: string | null
    attempt_count: number
    next_attempt_at: string | null
  }[]

/** Makes what waits in a campaign due now. */
export const makeDue = ({ sql }: Pick<CampaignApp, 'sql'>, { id }: { id: string }) =>
  sql(
    `with r as (update campaign_recipients set next_attempt_at = now()
                 where campaign_id = $1 and state = 'queued')
     update campaign_mailings set due_at = now() where id = $1`,
    [id],
  )

/** Ends the lease of a worker that is gone. */
export const endLease = ({ sql }: Pick<CampaignApp, 'sql'>, { id }: { id: string }) =>
  sql('update campaign_mailings set lease_until = now() where id = $1', [id])

export const LETTER = {
  channel: 'email',
  subject: 'New in May',
  body_markdown: '# Hello\n\nThe **new** cups are [here](https://shop.example/cups).',
}

/** Starts a mail campaign to all people who have consented. */
export async function startMail(merchant: Caller, more: object = {}) {
  const segment_id = await createSegment(merchant)
  const { id } = await createCampaign(merchant, { ...LETTER, segment_id, ...more })
  return act(merchant, id, 'schedule', {})
}

/** Fails unless the counts of all mailings are those of their recipients. */
export async function assertCountsAddUp({ sql }: Pick<CampaignApp, 'sql'>): Promise<void> {
  const wrong = await sql(
    `select m.tenant_ref, m.id, to_jsonb(m) as mailing, to_jsonb(r) as counted
       from campaign_mailings m
       left join lateral (
            select count(*) as recipients, count(*) filter (where state = 'sent') as sent,
                   count(*) filter (where state = 'skipped') as skipped,
                   count(*) filter (where state = 'failed') as failed,
                   count(*) filter (where state = 'unknown') as unknown
              from campaign_recipients r
             where r.tenant_ref = m.tenant_ref and r.campaign_id = m.id) as r on true
      where (m.recipients_count, m.sent_count, m.skipped_count, m.failed_count, m.unknown_count)
            <> (r.recipients, r.sent, r.skipped, r.failed, r.unknown)`,
  )
  assert.deepEqual(wrong, [])
}

/** How often each address has got a mail. */
export function countByAddress(received: readonly Pick<ReceivedMail, 'to'>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { to } of received)
    for (const each of to) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}
