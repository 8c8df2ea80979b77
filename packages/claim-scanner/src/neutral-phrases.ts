/**
 * Phrases in which words of the rules have a harmless sense ("cured ham"), in the notation of
 * rules.ts. The words they cover claim nothing.
 */
export const NEUTRAL = `
    cured|cure|cures|curing|cured ~1 concrete|resin|epoxy|paint|meat|ham|bacon|sausage|salami|rubber|leather|tobacco|adhesive|coating|ink|fish|salmon|olives|cheese|glue|polish|time|oven|lamp|agent|hides|varnish
    uv|air|dry|salt|sun|smoke|fully|heat|cold|slow|light|moisture|oven|resin|concrete|epoxy|paint cure|cures|cured|curing
    treat|treats|treating yourself|someone|friends|family|mum|mom|dad|loved|them|her|him|box|boxes|jar|pack|bag|for|it|like
    dog|cat|sweet|pet|tasty|special|little|birthday|holiday|festive|chocolate|puppy|puppies|chewy|crunchy treat|treats
    trick or treat
    treat ~1 wood|leather|timber|stains|stain|surface|surfaces|fabric|water|garment|boots|metal|deck|fence|customers|staff|people|everyone|suppliers|workers
    heat|surface|water|window|wood|acid|wall|sample|thermal|chemical|plasma|enzyme|pressure|wastewater|fabric|leather|royal|equal|fair|tax|wax|data treatment|treatments|treated|treat|treating
    treated timber|wood|lumber|leather|fabric|water|glass|steel|paper|surface|cotton
    treatment ~1 of|for wood|leather|metal|water|wastewater|fabric|surfaces|samples|cells|data
    reverse|reversed|reversing engineering|charge|osmosis|side|gear|camera|phase|order|engineer|engineered|stitch|transcriptase|transcription|lookup|proxy|applique|seam
    prevent|prevents|preventing|prevented ~3 rust|corrosion|leaks|leak|damage|scratches|theft|fraud|slipping|spills|mould|fading|errors|loss|waste|chafing|tangling|limescale|contamination|evaporation|overheating|splinters
    heal brush|tool
    healing brush|tool|crystals|crystal
    self healing ~1 mat|cutting|rubber|coating|polymer|screen|network|cluster|film|paint
    dose response
    dose|dosing|dosage pump|pumps|valve|valves|spoon|cup|bottle|unit|system|head|rate|chamber|syringe|meter|equipment|controller
    radiation|detergent|uv|light|fertiliser|fertilizer|chlorine|espresso|coffee|ground|healthy|double dose|doses|dosing|dosage|dosed
    dose of inspiration|fun|sunshine|humour|humor|caffeine|style|news|colour|color|nature|adventure|nostalgia|joy|culture|reality|luxury|charm|wanderlust|creativity|motivation|calm
    muscle car|cars|tee|tees|tank|shirt|memory
    muscle fit
    weight|weights plate|plates|bench|rack|limit|class|set|capacity|stack
    paper|fabric|yarn|lead|fishing weight
    hair growth|cycle ~1 study|assay
    sleep mode|timer|mask|sack|bag|bags|tracker|number|function|shirt|suit|shirts|over
    drug free|store|stores|discovery|development|screening|testing|design|delivery|lord|interactions
    drug ~1 alcohol
    anti drug|doping
    retail|aroma|art|speech|music|pet|sound|therapy|light therapy
    therapy dog|dogs|ball
    home remedy
    legal|equitable remedy|remedies
    remedies|remedy ~2 breach|law|contract|default|consumer
    medicine ball|balls|cabinet|hat|books|journal|history
    history|school|faculty|nobel|journal|students|textbook|books|veterinary ~2 medicine
    pharmaceutical industry|companies|company|analysis|chemistry|research|engineering|sciences|packaging|waste
    fuel|mould|mold|molding|sample|dependency|sql|ink|column|plastic|die|code|steam|water|foam|resin|script injection|injections|injected|injector|inject|injecting
    injection moulding|molding|moulded|molded|mould|volume|port|valve|pump|loop|needle|attack|attacks|system|speed|attacks
    water for injection
    inject ~2 colour|color|fun|life|style|energy|personality|humour|humor|code|samples|sample|character|glamour|brightness|resin|foam|grease|sealant|dependencies
    shot|shots ~1 of|glass|glasses espresso
    espresso|coffee|photo|tequila|vodka|whisky shot|shots
    stress ~1 test|tests|testing|tested|relief ~1 strap|cable
    stress|strain relief boot|strap|cable|clamp|connector|bushing
    metal|material|alert|alarm|listener|eye fatigue
    computer|malware|email|network|usb|ransomware virus|viruses|infection|infections
    antivirus|firewall
    cold brew|drink|drinks|weather|chain|press|pressed|water|storage|start|snap|days|winter|mornings|room|nights|spot|brews|rolled|frame|air|hands
    pain ~1 points|point|au
    pain au chocolat
    headache ~1 out|free
    stroke engine|width|length|weight
    four|two|brush|stroke|keyboard|backstroke|pen strokes|stroke
    hearing|band|first|kitchen|lemon|visual|teaching|cool|legal|study aids|aid
    tropic|economic|great|tropical|basin|market depression
    customs|border clearance
    clearance sale|items|rack|section
    registered office|company|charity|trademark|trade|mail|post|design|users|user|address
    burns ~1 clean|cleanly|evenly|slowly|hours|longer
    burn time|hours
    tropic of cancer
    gun|gift|apply ~1 stickers|decal|decals|patch|transfer|sticker|glitter
    face value|mask|plate|paint|towel|frame|side|timber
    apply ~2 coupon|code|discount|filter|filters|paint|coat|primer|glue|pressure|heat|wax|polish|varnish|sealant
    weight ~1 loss ~2 drying|ignition|evaporation
    blood|carbon dating|orange|oranges|moon
    body ~1 wash|warmer|kit
    bottle|water|bath|ageing|aging ~1 room|barrel|rum|wine|whisky|cheese|cellar
    oak|wine|cheese|barrel|accelerated|whisky|heat aging|ageing
    plant|crop|tomato|potato|rose|leaf|fungal|tree|dutch|root|bee|fish ~1 disease|diseases|infection|infections
    potato|tomato|leaf blight|blights
    compulsive|personality|out|tidy disorder
    grip|bond|tensile|impact|signal|holding strength
    circulation of air|water|heat|blood
    air|water circulation
    cycle of deliveries|orders|work|sprints|seasons
    cycle tour|race|ride|holiday|path|lane|route|shorts|training
    dose|dosage|dosing|doses ~6 wash|litre|litres|liter|liters|gallon|load|plants|plant|pot|coffee|laundry
    skin sticker|stickers|case|decal|tone
    weight|mass loss ~2 of|in|on|during|after|by|from ~3 THING|drying|storage|transit|shipping
    relieve|relieves|relieving|reduce|reduces|reducing|ease|eases stress|strain|tension|pressure|fatigue ~1 on|in|at|of|from ~3 THING
    flat|flatter|round belly|stomach ~1 THING
    anti aging|ageing ~2 THING|additive|additives|agent|agents
    antiaging|antiageing ~2 THING|additive|additives|agent|agents
    lost|lose|shed|dropped ~3 POUNDS of ~1 THING|waste|cardboard
    stress|strain relief ~3 THING|ball|balls|toy|toys
    fat loss ~1 in|while|during frying|cooking|baking|roasting
    muscle ~1 roller|rollers
    sleep better ~4 linen|mattress|mattresses|pillow|pillows|bed|beds|sheets|duvet|blanket|bedding|earplugs|curtains
    clear skin ~2 phone|phones|laptop|laptops|case|cases|console
    drink cold|hot|warm|chilled
    face of ~2 THING
    recommended reading|books|retail
    lost|lose|loses weight ~3 THING
    fine lines ~1 in|on|of ~1 THING|plaster|drawing|drawings|drywall
    fat based|soluble
    gain|gains strength in spanish|french|german|english|maths|math|writing|grammar
    swelling of ~1 THING|door|doors|drawer|drawers
    heal|heals|healing ~2 crack|cracks|scratch|scratches|puncture|punctures
    stop|stops|prevents|treats ~2 leaf|root|plant ~1 infections|infection|diseases|disease`

/**
 * Phrases beside which a claim is about animals, cells or a laboratory, in the notation of rules.ts.
 * Such a claim is reported for review and does not refuse the document.
 */
export const LABORATORY = `
    in|on|of mice|rats|rodents|rabbits|zebrafish|flies|worms|yeast|pigs|vitro|vivo|silico|culture|cells
    mouse|rat|murine|rodent|zebrafish|animal|cell|tissue ~1 model|models|study|studies|line|lines|culture|experiments
    assay|assays|experiment|experiments|microarray|elisa|mice|rats|zebrafish
    screening ~1 library|libraries|panel|kit`

/**
 * Phrases like those of `LABORATORY`, for texts about texts: "a history of weight loss", "anti-ageing
 * research literature".
 */
export const LITERATURE = `
    research|scientific|academic|peer ~1 literature|articles|papers|review|journal|journals|publications
    literature|textbook|handbook|hardcover|paperback|novel|novels|memoir|essays|anthology|thesis|dissertation|proceedings|poster|posters|chart|charts|workbook|cookbook|calendar|diary
    history|historian|reader|book|books of|on|about
    research ~1 reader|methods|literature`

/**
 * Phrases that name an illness for another reason. A claim that contains them is reported for review: "treats cancer
 * models" may be about mice, and a word after it may make it a claim.
 */
export const ILLNESS_NAMED = `
    cancer research|charity|charities|awareness|society|support|biology|ward|zodiac|horoscope|sign|foundation|council|trust|star
    cancer cell line|lines|culture
    inflammation|inflammatory|cancer|tumor|disease|diabetes|infection|obesity|insulin assay|model|models|marker|markers|biomarker|biomarkers|research|signalling|signaling|pathway|pathways|elisa
    disease|diseases ~1 resistant|resistance|free
    antiinflammatory|antitumor|antiviral|anticancer antibody|antibodies|assay
    donate|donated|donation|donations|proceeds|fundraiser|raise|raised|raises|raising ~6 cancer|diabetes|charity|dementia|alzheimers|parkinsons|heart`
