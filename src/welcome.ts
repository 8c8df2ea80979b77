import { relative } from 'node:path'
import type { Config } from './config.ts'
import { DEMO_REFS, type Demo, demoFileOf } from './demo-file.ts'
import { CREDIT, CREDIT_PATH } from './dev-credit.ts'

interface Welcome {
  url: string
  config: Config
  demo: Demo | null
}

/** The address of a demo store. Browsers resolve every name under localhost to this machine. */
const storeUrl = (url: string, tenant: string) => `http://${tenant}.localhost:${new URL(url).port}`

/** Prints the addresses and credentials after a start. Production prints addresses only. */
export function printWelcome({ url, config, demo }: Welcome): void {
  const lines = [
    '',
    `  Fairdock is ready at ${url}`,
    '',
    `  API reference   ${url}/docs`,
    `  OpenAPI         ${url}/openapi.json`,
  ]
  if (demo !== null && !config.production) {
    const shown = relative(process.cwd(), demoFileOf(config))
    lines.push(
      '',
      ...DEMO_REFS.map(
        (ref, at) => `  ${at === 0 ? 'Demo stores' : '           '}     ${storeUrl(url, ref)}`,
      ),
      `  Merchant key    ${demo.merchant_key}`,
      `  Owner           ${demo.owner.email}  ${demo.owner.password}`,
      ...(demo.gift_card === undefined
        ? []
        : [
            `  Gift card       ${demo.gift_card.code}  ${demo.gift_card.balance} at ${storeUrl(url, demo.tenant_ref)}`,
          ]),
      `  Store credit    ${CREDIT} for the shopper of its newest order: ${url}${CREDIT_PATH}`,
      '',
      `  Stored in ${shown}; secrets.json beside it has the operator token and the storefront token.`,
    )
  }
  process.stdout.write(`${lines.join('\n')}\n\n`)
}
