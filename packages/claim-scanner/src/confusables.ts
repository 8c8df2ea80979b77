/**
 * Letters that look like Latin ones and that compatibility decomposition does not change.
 * The first character of a pair is the written one, the rest the Latin letters it looks like.
 */
const PAIRS = `
аa вb гr ԁd еe ғf ԍg һh іi јj кk ӏl мm нh оo рp ԛq ѕs тt ѵv ԝw хx уy үy сc зe иu пn яr ьb єe ӕae ԉl қk ѡw ҫc ԋh ҳx
АA ВB ЕE НH ІI ЈJ КK МM ОO РP СC ТT УY ХX ЅS ԌG ѴV ЗE ҮY ԜW ӀI ЕE ГR ИN ЯR ПN ҚK ҪC ԞK
αa βb γy δd εe ζz ηn θo ιi κk λl νv ξe οo πn ρp σo ςs τt υu φo χx ψw ωw μu ϲc ϳj ϵe
ΑA ΒB ΓR ΔA ΕE ΖZ ΗH ΘO ΙI ΚK ΛA ΜM ΝN ΟO ΡP ΣE ΤT ΥY ΦO ΧX ΩO ϹC ϺM
ıi łl øo đd ðd ħh ŧt ɑa ɡg ɩi ƒf ßss æae œoe þp ɛe ſs ʋu ɓb ɗd ƙk ƭt ɫl ƶz ʐz ɦh ɾr ʂs ʈt ɨi ʉu ɵo əe ƴy ŋn ɲn ɳn ɱm ƈc ȼc
ɕc ʍw ƀb ɖd ɇe ɠg ɉj ɭl ɬl ƚl ɍr ɽr ɼr ʇt ʌv ɯm ɐa ɒa ǝe ɘe ɜe ɞe ɥh ɹr ʎy ʞk ʟl ɔc ƨs ƽs ȿs ɀz ʒe ᶃg ᴉi ꞁl ⱡl ⱥa ⱦt ⱪk ⱬz
ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz ᴁae ɶoe ᴆd ᴌl ᴎn ᴙr ᴚr ᴐc ᴑo
ոn սu օo հh ցg զq աw յj լl ռn ւi տs ԱU ՍU ՏS ՕO ԼL ՀZ
ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏒR ᏚS ᎢT ᏙV ᎳW ᎽY ᏃZ ᎯO ᏓL
ꭰd ꭱr ꭲt ꭺa ꭼe ꮋh ꮇm ꮃw ꮪs ꮖi ꮯc ꮲp ꮮl ꮩv ꮓz ꮶk ꮐg ꭻj
ꓮA ꓐB ꓚC ꓓD ꓰE ꓝF ꓖG ꓧH ꓲI ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ
ⲁa ⲃb ⲉe ⲏh ⲓi ⲕk ⲙm ⲛn ⲟo ⲣp ⲥc ⲧt ⲩy ⲭx ⲱw ⲗl ⲅr
०o ০o ੦o ૦o ௦o ໐o ໐o ०o оo ⵔo ⵏi ⵙo ꓸ. ꓹ, ∂d ∅o ⍺a ⍳i ⍵w ℮e ¢c ∑e √v ∪u ∩n ⊂c ⊃d
аa ӧo ӓa ӟe ӥu ӱy ґr ђh ћh ќk ўy џu ґr љl њh
`

/** The first code points of ranges of 26 letters in alphabetical order. */
const ALPHABETS = [0x1f1e6, 0x1f130, 0x1f150, 0x1f170]

/** The Latin letters that a code point looks like, in lower case. */
export const CONFUSABLES: ReadonlyMap<number, string> = new Map([
  ...PAIRS.trim()
    .split(/\s+/)
    .map((pair): [number, string] => {
      const [written = '', ...read] = pair
      return [written.codePointAt(0) ?? 0, read.join('').toLowerCase()]
    }),
  ...ALPHABETS.flatMap((first) =>
    Array.from({ length: 26 }, (_, i): [number, string] => [
      first + i,
      String.fromCharCode(97 + i),
    ]),
  ),
])
