import { type Field, selectField, textField } from '../layout/fields.ts'
import { type Html, html, jsonScript } from '../layout/html.ts'
import type { Site } from '../site/site.ts'
import {
  type Address,
  addressData,
  addressRuleOf,
  cityLabel,
  listCountries,
  postcodeLabel,
  regionLabel,
} from './address.ts'

/**
 * The fields of an address. Postcode, city and region stand in the order of the country; a field
 * that the country does not have is there and hidden, for our script to show it for another country.
 */
export function addressFields(site: Site, address: Address, errors: Record<string, string>): Html {
  const { texts } = site.locale
  const text = (field: Field) =>
    textField(field, address[field.name as keyof Address], errors[field.name])
  const locality = {
    postal_code: () => postcodeField(site, address, errors.postal_code),
    city: () =>
      text({
        name: 'city',
        label: cityLabel(texts, address.country),
        autocomplete: 'shipping address-level2',
        part: true,
      }),
    state: () => regionField(site, address, errors.state),
  }
  const { order } = addressRuleOf(address.country)
  return html`<div class="fields">${countryField(site, address.country, errors.country)}
${text({ name: 'name', label: texts.fullName, autocomplete: 'shipping name' })}
${text({ name: 'line1', label: texts.address, autocomplete: 'shipping address-line1' })}
${text({ name: 'line2', label: texts.optional({ label: texts.addressMore }), autocomplete: 'shipping address-line2', optional: true })}
<div class="locality" id="locality">${order.map((part) => locality[part]())}</div></div>
<script type="application/json" id="address-data">${jsonScript(addressData(site))}</script>`
}

function countryField(site: Site, country: string, error?: string): Html {
  const { texts } = site.locale
  const countries = listCountries(site)
  const known = countries.some(({ code }) => code === country)
  const choices = countries.map(({ code, name }) => ({ value: code, label: name }))
  return selectField(
    {
      name: 'country',
      label: texts.country,
      autocomplete: 'shipping country',
      choices: known ? choices : [{ value: '', label: texts.chooseCountry }, ...choices],
    },
    country,
    error,
  )
}

function postcodeField(site: Site, { country, postal_code }: Address, error?: string): Html {
  const { texts } = site.locale
  const rule = addressRuleOf(country).postcode
  const field = {
    name: 'postal_code',
    label: rule === null ? texts.postcodeKinds.postcode : postcodeLabel(texts, rule),
    autocomplete: 'shipping postal-code',
    optional: rule?.required !== true,
    placeholder: rule?.example ?? '',
    absent: rule === null,
    part: true,
  }
  return textField(field, postal_code, error)
}

function regionField(site: Site, { country, state }: Address, error?: string): Html {
  const { texts } = site.locale
  const rule = addressRuleOf(country).region
  const field = {
    name: 'state',
    label: rule === null ? texts.regionKinds.region : regionLabel(texts, rule),
    autocomplete: 'shipping address-level1',
    optional: rule?.required !== true,
    absent: rule === null,
    part: true,
  }
  const choices = rule?.choices ?? null
  if (choices === null) return textField(field, state, error)
  const options = choices.map(({ code, name }) => ({ value: code, label: name }))
  return selectField({ ...field, choices: [{ value: '', label: '' }, ...options] }, state, error)
}
