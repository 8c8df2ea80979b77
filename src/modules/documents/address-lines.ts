import * as post from '../../../manifest/address-lines.ts'
import { cleanText } from './clean-text.ts'

/** The lines of an address on paper: in the form of its country, of characters that can be drawn. */
export const addressLines = (
  address: post.WrittenAddress,
  countryName: (code: string) => string,
): string[] =>
  post
    .addressLines(address, countryName)
    .map(cleanText)
    .filter((line) => line !== '')
