import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { migrate } from '../src/db/migrate.ts'
import { writeOrCheck } from './compare.ts'
import { dumpSchema } from './schema-dump.ts'

/** Writes generated/schema.sql from the migrations, on a server of its own. `--check` only compares. */
async function main(args: readonly string[]): Promise<void> {
  const text = await onNewServer(async (url) => {
    await migrate({ url, secretKey: randomBytes(32).toString('hex') })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await dumpSchema(client)
    } finally {
      await client.end()
    }
  })
  await writeOrCheck(fileURLToPath(new URL('../generated/schema.sql', import.meta.url)), text, args)
}

async function onNewServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'schema-'))
  // Root starts the server as another user, who must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  const password = randomBytes(16).toString('hex')
  try {
    const server = await startEmbedded({ dataDir, password, settings: { fsync: 'off' } })
    try {
      return await work(server.url)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  }
}

await main(process.argv.slice(2))
