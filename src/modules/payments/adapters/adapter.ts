import type { Database } from '../../../db/database.ts'
import type { SettingTable, Values } from '../../../kernel/setting.ts'
import type { EventScheme } from '../../../platform/provider-events.ts'
import type { Gateway } from './gateway.ts'
import type { CodeMeaning } from './meanings.ts'
import type { CredentialCheck, FailedCall } from './schema.ts'

/**
 * What the platform knows of a gateway. It is light, since every process reads its settings at the start: `open`
 * loads the gateway's clients at the first payment (decision 0076).
 */
export interface GatewayAdapter<Settings extends SettingTable = SettingTable> {
  /** Stored with accounts and attempts, so it never changes. */
  readonly name: string
  /** As people call it. */
  readonly title: string
  /** Whether it moves money. A sandbox store gets only one that moves none. */
  readonly movesMoney: boolean
  /** Its settings of the installation. */
  readonly settings: Settings
  /** Lists what is wrong with them together. */
  settingFaults(read: Values<Settings>, about: SettingContext): string[]
  /** The account of the installation. */
  ownAccount(read: Values<Settings>): Account
  /** What an account of a store has as its credentials; null: stores have no account of their own. */
  readonly credentials: CredentialShape | null
  /** What its codes mean. */
  readonly meanings: readonly CodeMeaning[]
  open(deps: AdapterDeps<Settings>): Promise<OpenGateways>
  /** The gateway's own card fields; null: the shopper types the card into the storefront's. */
  cardScript(account: Account, read: Values<Settings>): CardScript | null
  /** How it signs and writes its events; null: it sends none. */
  readonly events: EventScheme | null
}

export interface SettingContext {
  production: boolean
  /** Whether it is the gateway of stores without a setting of their own. */
  isDefault: boolean
}

/** The secrets of an account, by their names. */
export type Credentials = Readonly<Record<string, string>>

export interface Account {
  credentials: Credentials | null
  /** The public key of its card fields. */
  public_key: string | null
}

/** A text of an account's credentials. */
export interface SecretText {
  pattern: string
  /** What the pattern asks for, in words. */
  expected: string
  minLength: number
  maxLength: number
  description: string
}

export interface CredentialShape {
  readonly members: Readonly<Record<string, SecretText>>
  /** The text that is encrypted and stored. */
  toText(credentials: Credentials): string
  fromText(text: string): Credentials
  /** The secret whose last characters are shown, so that people can tell two accounts apart. */
  hinted(credentials: Credentials): string
}

/** Credentials that are one secret: it is stored as it is. */
export function oneSecret(name: string, member: SecretText): CredentialShape {
  const secretOf = (credentials: Credentials) => credentials[name] ?? ''
  return {
    members: { [name]: member },
    toText: secretOf,
    fromText: (text) => ({ [name]: text }),
    hinted: secretOf,
  }
}

/** A script of the gateway that puts card fields of its own into the page. */
export interface CardScript {
  /** Names the code of a storefront that works with the script. */
  driver: string
  url: string
  /** The public key of the account. */
  key: string
}

export interface AdapterDeps<Settings extends SettingTable = SettingTable> {
  settings: Values<Settings>
  /** The database with the tables of the simulated gateway, on a handle of its own. */
  database: Database
  /** Derives a separate key for each purpose. */
  key(purpose: string): Buffer
  /** How long a time-out of the simulated gateway takes; for tests. */
  timeoutMs?: number
  /** Reports an unexpected error of ours in an adapter. The report has no card and no credential. */
  onFault: (error: unknown) => void
  /** Reports a call without a usable answer. The report has nothing of the request. */
  onNoAnswer: (call: FailedCall) => void
  /** Reports a refusal for which an operator must repair the account. The report has nothing of the request. */
  onAccountProblem: (call: FailedCall) => void
}

/** The gateways of all stores at one provider: they share its connections. */
export interface OpenGateways {
  /** The gateway of a store's account. Without credentials nothing is sent. */
  forAccount(account: { tenant: string; credentials: Credentials | null }): Gateway
  /** Tries credentials at the provider, by a call that moves no money. */
  check(credentials: Credentials): Promise<CredentialCheck>
  close(): Promise<void>
}
