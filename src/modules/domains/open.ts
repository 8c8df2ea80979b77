import { hostSubject } from '../../kernel/hostname.ts'
import type { House } from '../house.ts'
import { createTxtLookup } from './txt-lookup.ts'

export const openDomains = ({ config, limits, cache }: House) => ({
  limits,
  platformHost: config.PUBLIC_URL ? new URL(config.PUBLIC_URL).hostname : config.HOST,
  findTxt: createTxtLookup(config.DNS_SERVERS),
  asksForTls: config.TLS_FRONT === 'on_demand',
  forgetHost: (hostname: string) => cache.drop(hostSubject(hostname)),
})
