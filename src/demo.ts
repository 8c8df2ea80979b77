import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { openIdentity } from './app.ts'
import type { Config } from './config.ts'
import * as credentials from './modules/credentials/service.ts'
import * as identity from './modules/identity/service.ts'
import * as stores from './modules/stores/service.ts'
import { SYSTEM } from './platform/audit.ts'
import type { Runtime } from './runtime.ts'

export interface Demo {
  tenant_ref: string
  owner: { email: string; password: string }
  merchant_key: string
}

const fileOf = (config: Config) => join(config.DATA_DIR, 'demo.json')

/**
 * A store to try things with, made when there is none at all. Its credentials are kept beside the
 * secrets, so that each start can show them again. Null where the installation has stores of its own.
 */
export async function seedDemo(runtime: Runtime): Promise<Demo | null> {
  const { total } = await stores.list(runtime.operatorDatabase.global, {}, { limit: 1, offset: 0 })
  if (total > 0) return readDemo(runtime.config)
  const demo = await makeDemo(runtime)
  await writeFile(fileOf(runtime.config), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  return demo
}

async function readDemo(config: Config): Promise<Demo | null> {
  const text = await readFile(fileOf(config), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Demo)
}

async function makeDemo(runtime: Runtime): Promise<Demo> {
  const { database } = runtime
  const owner = { email: 'owner@demo.example', password: randomBytes(12).toString('base64url') }
  // The address is not real, so there is nobody who could prove it.
  const owners = { ...(await openIdentity(runtime)), verification: 'off' as const }
  const started = await identity.signUp(owners, { ...owner, name: 'Demo Owner' })
  const store = await stores.create(database, SYSTEM, {
    tenant_ref: 'demo',
    display_name: 'Demo Store',
    owner_email: owner.email,
  })
  const { credential } = await credentials.issueInitial(
    database,
    SYSTEM,
    { ...started.owner, emailVerified: true },
    { label: 'Demo key' },
  )
  return { tenant_ref: store.tenant_ref, owner, merchant_key: credential.key }
}

interface Welcome {
  url: string
  config: Config
  demo: Demo | null
}

/** What a person who has just started it wants to know. Production shows addresses only. */
export function printWelcome({ url, config, demo }: Welcome): void {
  const lines = [
    '',
    `  Fairdock is ready at ${url}`,
    '',
    `  API reference   ${url}/docs`,
    `  OpenAPI         ${url}/openapi.json`,
  ]
  if (demo !== null && !config.production) {
    const shown = relative(process.cwd(), fileOf(config))
    lines.push(
      '',
      `  Demo store      ${demo.tenant_ref}`,
      `  Merchant key    ${demo.merchant_key}`,
      `  Owner           ${demo.owner.email}  ${demo.owner.password}`,
      '',
      `  Kept in ${shown}; the operator's and the storefront's token stand in secrets.json beside it.`,
    )
  }
  process.stdout.write(`${lines.join('\n')}\n\n`)
}
