import { Database } from '../../src/db/database.ts'
import { newQueue } from './chores.ts'

// Claims a store's chores, says so, and works on them until it is killed.
const [url = '', tenant = '', leaseSeconds = ''] = process.argv.slice(2)
const db = new Database({ url, name: 'holder', max: 2 }).tenant(tenant)
const queue = newQueue()
const rows = await queue.claim(db, 10, Number(leaseSeconds))
process.stdout.write(`${rows.length}\n`)
const forEver = () => new Promise<void>(() => {})
await Promise.all(rows.map((row) => queue.runWithLease(db, row, forEver, Number(leaseSeconds))))
