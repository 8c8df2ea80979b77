import { Readable } from 'node:stream'
import type { TenantDb } from '../db/database.ts'
import type { App } from './route.ts'

/**
 * How many milliseconds a KiB of text costs the process, which parses it, searches it for card numbers, checks it and
 * writes it. 500 rows of a bulk call, 100 KiB with their results, take 15 ms.
 */
const MS_PER_KIB = 0.1

/**
 * How many bytes are not counted: the fixed cost of a request is counted with its work in the database, and most
 * requests are smaller than this.
 */
const FREE_BYTES = 4_096

const isOf = (type: unknown, kind: 'json' | 'csv'): boolean =>
  typeof type === 'string' && type.includes(kind)

const lengthIf = (applies: boolean, length: unknown): number => (applies ? Number(length) || 0 : 0)

/** Counts long texts as use of their caller. Otherwise the caller would wait only for the use of the database. */
export function countBytes(app: App): void {
  const count = (db: TenantDb, bytes: number) => {
    if (bytes > 0) db.addUse((bytes / 1_024) * MS_PER_KIB)
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    const db = request.db as TenantDb | undefined
    const isTable = payload instanceof Readable && isOf(reply.getHeader('content-type'), 'csv')
    if (db === undefined || !isTable) return done(null, payload)
    // Each part is counted as it is written: the next page of a long table waits for the cost of the pages before it.
    done(null, Readable.from(eachPart(payload, (bytes) => count(db, bytes))))
  })
  app.addHook('onResponse', (request, reply, done) => {
    const db = request.db as TenantDb | undefined
    if (db !== undefined) {
      const { headers } = request
      const received = lengthIf(isOf(headers['content-type'], 'json'), headers['content-length'])
      const type = reply.getHeader('content-type')
      const answered = lengthIf(isOf(type, 'json'), reply.getHeader('content-length'))
      count(db, received + answered - FREE_BYTES)
    }
    done()
  })
}

async function* eachPart(text: Readable, told: (bytes: number) => void): AsyncGenerator<string> {
  for await (const part of text) {
    told(Buffer.byteLength(part))
    yield part
  }
}
