/**
 * Public suffixes: names under which unrelated people register names of their own. A store with
 * such a hostname would control all of them.
 *
 * This is not the whole Public Suffix List (some ten thousand entries, changing weekly), only the
 * suffixes that a merchant is likely to enter. Top-level domains are not here: a hostname has two
 * labels at least. A missing suffix is no security hole: to verify a hostname, its zone must
 * contain our record, and the registry of a public suffix will not add it.
 */
const REGISTRIES: readonly (readonly [country: string, seconds: string])[] = [
  ['ar', 'com gob net org'],
  ['at', 'ac co gv or'],
  ['au', 'asn com edu gov id net org'],
  ['br', 'app art blog com eco ind net org'],
  ['cn', 'ac com edu gov net org'],
  ['co', 'com net nom org'],
  ['cr', 'co fi or'],
  ['eg', 'com edu gov net org'],
  ['es', 'com edu gob nom org'],
  ['gr', 'com edu gov net org'],
  ['hk', 'com edu gov idv net org'],
  ['hu', 'co info org'],
  ['id', 'biz co my net or web'],
  ['il', 'ac co gov net org'],
  ['in', 'ac co firm gen gov ind net org'],
  ['jp', 'ac ad co ed go gr lg ne or'],
  ['ke', 'co go ne or'],
  ['kr', 'ac co go ne or pe re'],
  ['ma', 'co gov net org'],
  ['mx', 'com edu gob net org'],
  ['my', 'com edu gov name net org'],
  ['ng', 'com gov name net org'],
  ['nz', 'ac co geek gen govt kiwi maori net org school'],
  ['pe', 'com edu gob net nom org'],
  ['ph', 'com edu gov net org'],
  ['pk', 'com edu gov net org'],
  ['pl', 'com edu gov info net org waw'],
  ['pt', 'com edu gov nome org'],
  ['ro', 'com firm info nom org store'],
  ['sa', 'com edu gov net org'],
  ['sg', 'com edu gov net org per'],
  ['th', 'ac co go in or'],
  ['tr', 'bel biz com gen gov info k12 net org web'],
  ['tw', 'club com ebiz edu gov idv net org'],
  ['ua', 'co com edu gov in kiev kyiv net org'],
  ['uk', 'ac co gov ltd me net nhs org plc police sch'],
  ['uy', 'com edu gub net org'],
  ['ve', 'co com info net org web'],
  ['vn', 'com edu gov net org'],
  ['za', 'ac co gov law net org web'],
]

/** Suffixes that companies sell, or give to the customers of a service. */
const SERVICES = `
  appspot.com azurefd.net azurestaticapps.net azurewebsites.net b-cdn.net blogspot.com br.com
  bubbleapps.io cloudapp.net cloudfront.net cn.com co.com de.com deno.dev dyndns.org edgekey.net
  eu.com firebaseapp.com fly.dev gb.net github.io githubusercontent.com gitlab.io glitch.me
  herokuapp.com jp.net jpn.com mybigcommerce.com myshopify.com neocities.org netlify.app ngrok-free.app
  ngrok.app ngrok.dev ngrok.io no-ip.org onrender.com pages.dev r2.dev railway.app replit.app ru.com
  run.app s3.amazonaws.com sa.com se.net squarespace.com surge.sh trycloudflare.com uk.com uk.net
  us.com vercel.app vercel.dev web.app webflow.io weebly.com wixsite.com wordpress.com workers.dev
  za.com`

const SUFFIXES: ReadonlySet<string> = new Set([
  ...REGISTRIES.flatMap(([country, seconds]) => seconds.split(' ').map((s) => `${s}.${country}`)),
  ...SERVICES.trim().split(/\s+/),
])

/** Whether a canonical hostname is one of the known public suffixes. */
export const isPublicSuffix = (host: string): boolean => SUFFIXES.has(host)
