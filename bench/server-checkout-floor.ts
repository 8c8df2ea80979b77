import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import pg from 'pg'
import { report } from './load.ts'

/**
 * The floor of the checkout: bare `node:http` and `pg`. It writes the least that an order is, into
 * tables without policies, in as many commits as ours: the key and the order's number, which need not
 * wait for the disk, the reservation, the gateway's authorisation and capture, the settlement. It
 * prices, checks and refuses nothing.
 */
const [url = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10 })
const asyncPool = new pg.Pool({
  connectionString: url,
  max: 10,
  options: '-c synchronous_commit=off',
})

await pool.query(`
  create schema if not exists floor;
  create table if not exists floor.keys (tenant text, key text, status int, body text, primary key (tenant, key));
  create table if not exists floor.counters (tenant text primary key, last bigint not null);
  create table if not exists floor.orders (tenant text, id uuid, number bigint, customer text, status text, total bigint, primary key (tenant, id));
  create table if not exists floor.items (tenant text, id uuid, order_id uuid, variant uuid, quantity int, price bigint, primary key (tenant, id));
  create table if not exists floor.ledger (tenant text, id uuid, order_id uuid, account text, amount bigint, primary key (tenant, id));
  create table if not exists floor.events (tenant text, id uuid, order_id uuid, data text, primary key (tenant, id));
  create table if not exists floor.gateway (tenant text, ref uuid, amount bigint, captured bigint, primary key (tenant, ref))`)

type Statement = [name: string, text: string, values: unknown[]]

async function transact(...statements: Statement[]) {
  const client = await pool.connect()
  try {
    await client.query('begin')
    for (const [name, text, values] of statements) await client.query({ name, text, values })
    await client.query('commit')
  } finally {
    client.release()
  }
}

const alone = ([name, text, values]: Statement, from = pool) => from.query({ name, text, values })

async function place(
  tenant: string,
  key: string,
  body: { customer_ref: string; items: { variant_id: string; quantity: number }[] },
) {
  const [id, ref] = [randomUUID(), randomUUID()]
  const item = body.items[0] ?? { variant_id: id, quantity: 1 }
  await alone(
    [
      'key',
      'insert into floor.keys (tenant, key) values ($1, $2) on conflict do nothing',
      [tenant, key],
    ],
    asyncPool,
  )
  const { rows } = await alone(
    [
      'number',
      'insert into floor.counters as c values ($1, 1001) on conflict (tenant) do update set last = c.last + 1 returning last',
      [tenant],
    ],
    asyncPool,
  )
  const { last: number } = rows[0] as { last: string }
  await transact(
    [
      'order',
      `insert into floor.orders values ($1, $2, $3, $4, 'pending', 1000)`,
      [tenant, id, number, body.customer_ref],
    ],
    [
      'item',
      'insert into floor.items values ($1, $2, $3, $4, $5, 1000)',
      [tenant, randomUUID(), id, item.variant_id, item.quantity],
    ],
  )
  await alone(['authorize', 'insert into floor.gateway values ($1, $2, 1000, 0)', [tenant, ref]])
  await alone([
    'capture',
    'update floor.gateway set captured = 1000 where tenant = $1 and ref = $2',
    [tenant, ref],
  ])
  const answer = JSON.stringify({ order: { id, number, status: 'placed', total_cents: 1_000 } })
  await transact(
    [
      'placed',
      `update floor.orders set status = 'placed' where tenant = $1 and id = $2`,
      [tenant, id],
    ],
    [
      'ledger',
      `insert into floor.ledger values ($1, $2, $4, 'card', 1000), ($1, $3, $4, 'sales', -1000)`,
      [tenant, randomUUID(), randomUUID(), id],
    ],
    [
      'event',
      'insert into floor.events values ($1, $2, $3, $4)',
      [tenant, randomUUID(), id, answer],
    ],
    [
      'answer',
      'update floor.keys set status = 201, body = $3 where tenant = $1 and key = $2',
      [tenant, key, answer],
    ],
  )
  return answer
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const tenant = request.url?.split('/')[3] ?? ''
  const key = String(request.headers['idempotency-key'])
  const answer = await place(tenant, key, JSON.parse(Buffer.concat(chunks).toString()))
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': answer.length })
  response.end(answer)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  report(`http://127.0.0.1:${address.port}`)
})
