import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

export const DEMO_REF = 'demo'
/** The last of the demo stores, which is created last. */
export const LAST_REF = 'ember'
export const DEMO_REFS = [DEMO_REF, 'objects', LAST_REF] as const

/**
 * The data that a person needs to try the demo. It is stored beside the secrets, so that each start can show it
 * again.
 */
export interface Demo {
  tenant_ref: string
  owner: { email: string; password: string }
  merchant_key: string
  /** A gift card of the demo store. The database has only a hash of its code. */
  gift_card?: { code: string; balance: string }
}

export const demoFileOf = (config: Config) => join(config.DATA_DIR, 'demo.json')

export async function readDemo(config: Config): Promise<Demo | null> {
  const text = await readFile(demoFileOf(config), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Demo)
}

/** Writes a temporary file and renames it, so that a reader never sees half a file. */
export async function writeDemo(config: Config, demo: Demo): Promise<void> {
  const path = demoFileOf(config)
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  await rename(temporary, path)
}
