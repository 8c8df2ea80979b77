import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@fairdock/embedded-postgres'
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { createMailingWorker } from '../src/modules/campaigns/jobs.ts'
import { openCampaignSending } from '../src/modules/campaigns/open.ts'
import { writeMail } from '../src/modules/campaigns/write-mail.ts'
import { readBrand } from '../src/modules/sites/brand.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import { createBulkTransport } from '../src/platform/bulk-smtp.ts'
import { createLogger } from '../src/platform/log.ts'
import { startLoop } from '../src/platform/loop.ts'
import { openRuntime, type Runtime } from '../src/runtime.ts'
import { writeMessage } from '../test/harness/write-message.ts'
import type { Figure } from './figure.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const TENANT = 'letters'
const ADDRESSES = 10_000
const ROUNDS = 3
/** Mails that are sent before the measurement, until code is compiled and plans are made. */
const WARM_UP = 1_000
/** The connections to the mail server: as many as the worker has by default. */
const CONNECTIONS = 8

/** The sender of both: they write the same, so that their messages have the same bytes. */
const FROM = 'news@example.com'
const PUBLIC_URL = 'https://example.com'

/** The characters of the token in the link of a reader, with its address of some 23. */
const TOKEN_LENGTH = 88

/** A letter of three paragraphs, a typical length. */
const LETTER = {
  subject: 'New in May',
  body_markdown: Array.from(
    { length: 3 },
    (_, n) => `## Part ${n}\n\n${'The new cups are **here**. '.repeat(20)}`,
  ).join('\n\n'),
}

/**
 * How fast the mails of a campaign are sent with all their records, beside a bare client. The figures: decision 0060.
 */
export async function campaignMail(dataDir: string): Promise<Figure> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  const smtp = await openSmtp()
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const runtime = await openRuntime({
      config: readConfig({
        NODE_ENV: 'test',
        CAMPAIGN_MAILS_PER_MINUTE: '10000000',
        PUBLIC_URL,
        MAIL_FROM: `Letters <${FROM}>`,
      }),
      secrets: { OPERATOR_TOKEN: 'x', STOREFRONT_TOKEN: 'x', SECRET_KEY },
      logger: createLogger('warn'),
      databaseUrl: server.url,
    })
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    const sender = openSender(runtime, `smtp://127.0.0.1:${smtp.port}`)
    try {
      return await measure(runtime, admin, smtp.port, sender)
    } finally {
      await sender.close()
      await admin.end()
      await runtime.close()
    }
  } finally {
    smtp.child.kill()
    await server.stop()
  }
}

async function openSmtp(): Promise<{ port: number; child: ChildProcess }> {
  const child = fork(fileURLToPath(new URL('./server-smtp.ts', import.meta.url)))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, child }
}

interface Sender {
  wake(): void
  close(): Promise<void>
}

function openSender(runtime: Runtime, smtpUrl: string): Sender {
  const transport = createBulkTransport(smtpUrl)
  const worker = createMailingWorker({
    ...openCampaignSending(runtime, transport),
    database: runtime.workerDatabase,
    onFree: () => loop.wake(),
  })
  const { logger } = runtime
  const loop = startLoop({ name: 'campaign mail', everyMs: 1_000, step: worker.step, logger })
  return {
    wake: loop.wake,
    async close() {
      await loop.stop()
      await worker.drain()
      transport.close()
    },
  }
}

async function measure(runtime: Runtime, admin: pg.Client, port: number, sender: Sender) {
  await stores.create(runtime.database, SYSTEM, { tenant_ref: TENANT, display_name: 'Letters' })
  await admin.query(
    `insert into newsletter_subscribers (tenant_ref, email, email_folded, status, confirmed_at)
     select $1, 'reader-' || n || '@example.com', 'reader-' || n || '@example.com', 'subscribed', now()
       from generate_series(1, $2::int) n`,
    [TENANT, ADDRESSES],
  )
  await sendCampaign(admin, sender, WARM_UP)
  await bareClient(port, WARM_UP)
  const pairs: { floor: number; ours: number; ratio: number }[] = []
  // Alternately, so that a noisy minute affects both. The median of the rounds counts.
  for (let n = 0; n < ROUNDS; n++) {
    const floor = await bareClient(port, ADDRESSES)
    const ours = await sendCampaign(admin, sender, ADDRESSES)
    pairs.push({ floor, ours, ratio: ours / floor })
  }
  const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return {
    name: 'mails of a campaign with their records',
    ours: `${median.ours.toFixed(0)}/s`,
    floor: `${median.floor.toFixed(0)}/s of a bare client, over ${CONNECTIONS} kept connections to the same server`,
    ratio: median.ratio,
    atLeast: 0.6,
  }
}

/** Sends a campaign to so many readers, from the listing of them on. Returns the mails per second. */
async function sendCampaign(admin: pg.Client, sender: Sender, count: number): Promise<number> {
  const { rows } = await admin.query(
    `with segment as (
       insert into segments (tenant_ref, name, match, conditions)
       values ($1, fd_uuid()::text, 'all', '[{"field": "consent", "op": "is", "value": "given"}]')
       returning id)
     insert into campaigns (tenant_ref, name, channel, status, starts_at, segment_id, subject, body_markdown)
     select $1, 'Bench', 'email', 'active', now(), id, $2, $3 from segment
     returning id`,
    [TENANT, LETTER.subject, LETTER.body_markdown],
  )
  const { id } = rows[0]
  // Fewer readers than the store has: the others count as listed already.
  const from = await admin.query(
    `select email_folded from segment_people where tenant_ref = $1
      order by email_folded desc offset $2 limit 1`,
    [TENANT, count],
  )
  const startedAt = performance.now()
  await admin.query(
    'insert into campaign_mailings (tenant_ref, id, listed_to) values ($1, $2, $3)',
    [TENANT, id, from.rows[0]?.email_folded ?? ''],
  )
  sender.wake()
  while (!(await isDone(admin, id))) await pause(20)
  const seconds = (performance.now() - startedAt) / 1_000
  const sent = await admin.query(
    'select sent_count::int as sent from campaign_mailings where id = $1',
    [id],
  )
  if (sent.rows[0].sent !== count) throw new Error(`${sent.rows[0].sent} of ${count} were sent`)
  return count / seconds
}

const isDone = async (admin: pg.Client, id: string): Promise<boolean> =>
  (await admin.query(`select from campaign_mailings where id = $1 and state = 'done'`, [id]))
    .rowCount === 1

/** Sends the same message and does nothing else: it is written once, and sent over connections that stay open. */
async function bareClient(port: number, count: number): Promise<number> {
  const message = writeOne()
  let left = count
  const startedAt = performance.now()
  const work = async () => {
    const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true })
    await new Promise<void>((resolve, reject) => {
      connection.once('error', reject)
      connection.connect((error) => (error ? reject(error) : resolve()))
    })
    while (left-- > 0) {
      const envelope = { from: FROM, to: [`reader-${left}@example.com`] }
      await new Promise<void>((resolve, reject) => {
        connection.send(envelope, message, (error) => (error ? reject(error) : resolve()))
      })
    }
    connection.quit()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return count / ((performance.now() - startedAt) / 1_000)
}

function writeOne(): string {
  const look = {
    name: 'Letters',
    email: null,
    language: 'en',
    colours: readBrand(null).colours,
    storefrontUrl: null,
    unsubscribe: 'Unsubscribe',
  }
  const url = `${PUBLIC_URL}/v1/unsubscribe/${'x'.repeat(TOKEN_LENGTH)}`
  const draft = { ...LETTER, sender_name: null, reply_to: null, utm: NO_UTM }
  const headers = {
    'List-Unsubscribe': `<${url}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  const { fromName, ...mail } = writeMail(look, draft, { url, headers })
  return writeMessage({
    ...mail,
    from: { name: fromName, address: FROM },
    to: 'reader-1234@example.com',
    messageId: `${randomUUID()}@example.com`,
    date: new Date(0),
  })
}

const NO_UTM = { source: null, medium: null, campaign: null }
