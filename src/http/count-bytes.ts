import type { TenantDb } from '../db/database.ts'
import type { App } from './route.ts'

/**
 * What a KiB of JSON costs the process, in milliseconds: it is parsed, searched for card numbers, checked, and
 * written. 500 rows of a bulk call, 100 KiB with their results, take 15 ms.
 */
const MS_PER_KIB = 0.1

/** What every request costs is counted with its work in the database. Most are smaller than this. */
const FREE_BYTES = 4_096

const isJson = (type: unknown): boolean => typeof type === 'string' && type.includes('json')

const lengthIf = (applies: boolean, length: unknown): number => (applies ? Number(length) || 0 : 0)

/** Counts long bodies and answers as use of their store, which else only waits for what it asks of the database. */
export function countBytes(app: App, addUse: (store: string, ms: number) => void): void {
  app.addHook('onResponse', (request, reply, done) => {
    const store = (request.db as TenantDb | undefined)?.tenant
    if (store !== undefined) {
      const { headers } = request
      const asked = lengthIf(isJson(headers['content-type']), headers['content-length'])
      const type = reply.getHeader('content-type')
      const answered = lengthIf(isJson(type), reply.getHeader('content-length'))
      const bytes = asked + answered - FREE_BYTES
      if (bytes > 0) addUse(store, (bytes / 1_024) * MS_PER_KIB)
    }
    done()
  })
}
