package awssimtest

import _ "embed"

// ProviderIAM is a template like the one clusterawsadm makes: four roles,
// three instance profiles and four policies with names of their own.
//
//go:embed provider-iam.yaml
var ProviderIAM string
