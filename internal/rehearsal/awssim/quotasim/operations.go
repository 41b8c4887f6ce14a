package quotasim

import (
	"encoding/base64"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Operations lists what is modelled.
func (s *Service) Operations() []service.Operation {
	return []service.Operation{
		service.Read("ListServices", s.listServices, "MaxResults", "NextToken"),
		service.Read("GetServiceQuota", s.getServiceQuota, "ServiceCode", "QuotaCode"),
		service.Read("ListServiceQuotas", s.listServiceQuotas, "ServiceCode", "QuotaCode", "MaxResults", "NextToken", "QuotaAppliedAtLevel"),
		service.Read("GetAWSDefaultServiceQuota", s.getDefault, "ServiceCode", "QuotaCode"),
		service.Read("ListAWSDefaultServiceQuotas", s.listDefaults, "ServiceCode", "MaxResults", "NextToken"),
		service.Write("RequestServiceQuotaIncrease", s.requestIncrease, "ServiceCode", "QuotaCode", "DesiredValue"),
		service.Read("GetRequestedServiceQuotaChange", s.getRequested, "RequestId"),
		service.Read("ListRequestedServiceQuotaChangeHistory", s.listHistory, "ServiceCode", "Status", "MaxResults", "NextToken", "QuotaRequestedAtLevel"),
		service.Read("ListRequestedServiceQuotaChangeHistoryByQuota", s.listHistoryByQuota, "ServiceCode", "QuotaCode", "Status", "MaxResults", "NextToken", "QuotaRequestedAtLevel"),
	}
}

func noSuch(format string, args ...any) error {
	return service.Refuse("NoSuchResourceException", format, args...)
}

func illegal(format string, args ...any) error {
	return service.Refuse("IllegalArgumentException", format, args...)
}

// page cuts one answer out of a list that is in the order of its keys.
func page[T any](all []T, key func(T) string, max *int32, token *string) ([]T, *string, error) {
	last, err := base64.RawURLEncoding.DecodeString(aws.ToString(token))
	if err != nil || token != nil && len(last) == 0 {
		return nil, nil, service.Refuse("InvalidPaginationTokenException", "The pagination token is invalid.")
	}
	for len(all) > 0 && len(last) > 0 && key(all[0]) <= string(last) {
		all = all[1:]
	}
	size := 100
	if max != nil {
		if size = int(*max); size < 1 || size > 100 {
			return nil, nil, illegal("MaxResults must be between 1 and 100")
		}
	}
	if len(all) <= size {
		return all, nil, nil
	}
	return all[:size], aws.String(base64.RawURLEncoding.EncodeToString([]byte(key(all[size-1])))), nil
}

func (s *Service) listServices(_ *service.Call, in *servicequotas.ListServicesInput) (*servicequotas.ListServicesOutput, error) {
	part, next, err := page(slices.Sorted(maps.Keys(services)), func(code string) string { return code }, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &servicequotas.ListServicesOutput{NextToken: next}
	for _, code := range part {
		out.Services = append(out.Services, types.ServiceInfo{ServiceCode: aws.String(code), ServiceName: aws.String(services[code])})
	}
	return out, nil
}

func lookup(serviceCode, quotaCode *string) (quota, error) {
	if services[aws.ToString(serviceCode)] == "" {
		return quota{}, noSuch("The request failed because the specified service does not exist.")
	}
	q, ok := quotaByCode(aws.ToString(quotaCode))
	if !ok || q.service != *serviceCode {
		return quota{}, noSuch("The request failed because the specified quota does not exist.")
	}
	return q, nil
}

func (s *Service) arn(c *service.Call, q quota) string {
	region := c.Region
	if q.global {
		region = ""
	}
	return "arn:aws:servicequotas:" + region + ":" + s.account + ":" + q.service + "/" + q.code
}

func (s *Service) shown(c *service.Call, q quota, value float64) types.ServiceQuota {
	return types.ServiceQuota{
		ServiceCode: aws.String(q.service), ServiceName: aws.String(services[q.service]), QuotaCode: aws.String(q.code), QuotaName: aws.String(q.name),
		QuotaArn: aws.String(s.arn(c, q)), Value: aws.Float64(value), Unit: aws.String("None"), Adjustable: !q.fixed, GlobalQuota: q.global,
		QuotaAppliedAtLevel: types.AppliedLevelEnumAccount,
	}
}

func (s *Service) getServiceQuota(c *service.Call, in *servicequotas.GetServiceQuotaInput) (*servicequotas.GetServiceQuotaOutput, error) {
	q, err := lookup(in.ServiceCode, in.QuotaCode)
	if err != nil {
		return nil, err
	}
	return &servicequotas.GetServiceQuotaOutput{Quota: new(s.shown(c, q, s.value(c.Region, q)))}, nil
}

func (s *Service) getDefault(c *service.Call, in *servicequotas.GetAWSDefaultServiceQuotaInput) (*servicequotas.GetAWSDefaultServiceQuotaOutput, error) {
	q, err := lookup(in.ServiceCode, in.QuotaCode)
	if err != nil {
		return nil, err
	}
	return &servicequotas.GetAWSDefaultServiceQuotaOutput{Quota: new(s.shown(c, q, q.standard))}, nil
}

func (s *Service) list(c *service.Call, serviceCode *string, max *int32, token *string, value func(quota) float64) ([]types.ServiceQuota, *string, error) {
	code := aws.ToString(serviceCode)
	if services[code] == "" {
		return nil, nil, noSuch("The request failed because the specified service does not exist.")
	}
	part, next, err := page(of(code), func(q quota) string { return q.code }, max, token)
	if err != nil {
		return nil, nil, err
	}
	all := []types.ServiceQuota{}
	for _, q := range part {
		all = append(all, s.shown(c, q, value(q)))
	}
	return all, next, nil
}

func (s *Service) listServiceQuotas(c *service.Call, in *servicequotas.ListServiceQuotasInput) (*servicequotas.ListServiceQuotasOutput, error) {
	all, next, err := s.list(c, in.ServiceCode, in.MaxResults, in.NextToken, func(q quota) float64 { return s.value(c.Region, q) })
	if err != nil {
		return nil, err
	}
	if in.QuotaCode != nil {
		all = slices.DeleteFunc(all, func(q types.ServiceQuota) bool { return *q.QuotaCode != *in.QuotaCode })
	}
	return &servicequotas.ListServiceQuotasOutput{Quotas: all, NextToken: next}, nil
}

func (s *Service) listDefaults(c *service.Call, in *servicequotas.ListAWSDefaultServiceQuotasInput) (*servicequotas.ListAWSDefaultServiceQuotasOutput, error) {
	all, next, err := s.list(c, in.ServiceCode, in.MaxResults, in.NextToken, func(q quota) float64 { return q.standard })
	if err != nil {
		return nil, err
	}
	return &servicequotas.ListAWSDefaultServiceQuotasOutput{Quotas: all, NextToken: next}, nil
}

func (s *Service) requestIncrease(c *service.Call, in *servicequotas.RequestServiceQuotaIncreaseInput) (*servicequotas.RequestServiceQuotaIncreaseOutput, error) {
	q, err := lookup(in.ServiceCode, in.QuotaCode)
	if err != nil {
		return nil, err
	}
	desired := aws.ToFloat64(in.DesiredValue)
	switch {
	case q.fixed:
		return nil, illegal("The quota %s is not adjustable", q.code)
	case desired <= s.value(c.Region, q):
		return nil, illegal("You must provide a quota value greater than the current quota value")
	}
	for _, r := range s.state.Requests {
		if r.Region == c.Region && r.Code == q.code && r.open() {
			return nil, service.Refuse("ResourceAlreadyExistsException", "Only one open service quota increase request is allowed per quota.")
		}
	}
	now := c.World.Now().UTC()
	r := &request{
		ID: c.World.NewID("", 40), Region: c.Region, Code: q.code, Requester: c.Caller.ARN, Desired: desired,
		Status: types.RequestStatusPending, CreatedAt: now, UpdatedAt: now,
	}
	s.state.Requests[r.ID] = r
	return &servicequotas.RequestServiceQuotaIncreaseOutput{RequestedQuota: new(s.shownRequest(c, r))}, nil
}

func (s *Service) shownRequest(c *service.Call, r *request) types.RequestedServiceQuotaChange {
	q, _ := quotaByCode(r.Code)
	return types.RequestedServiceQuotaChange{
		Id: aws.String(r.ID), ServiceCode: aws.String(q.service), ServiceName: aws.String(services[q.service]),
		QuotaCode: aws.String(q.code), QuotaName: aws.String(q.name), QuotaArn: aws.String(s.arn(c, q)), DesiredValue: aws.Float64(r.Desired),
		Status: r.Status, Created: aws.Time(r.CreatedAt), LastUpdated: aws.Time(r.UpdatedAt), GlobalQuota: q.global, Unit: aws.String("None"),
		Requester:             aws.String(`{"accountId":"` + s.account + `","callerArn":"` + r.Requester + `"}`),
		QuotaRequestedAtLevel: types.AppliedLevelEnumAccount,
	}
}

func (s *Service) getRequested(c *service.Call, in *servicequotas.GetRequestedServiceQuotaChangeInput) (*servicequotas.GetRequestedServiceQuotaChangeOutput, error) {
	r := s.state.Requests[aws.ToString(in.RequestId)]
	if r == nil || r.Region != c.Region {
		return nil, noSuch("The request failed because the specified request does not exist.")
	}
	return &servicequotas.GetRequestedServiceQuotaChangeOutput{RequestedQuota: new(s.shownRequest(c, r))}, nil
}

func (s *Service) history(c *service.Call, serviceCode, quotaCode *string, status types.RequestStatus, max *int32, token *string) ([]types.RequestedServiceQuotaChange, *string, error) {
	var found []*request
	for _, id := range slices.Sorted(maps.Keys(s.state.Requests)) {
		r := s.state.Requests[id]
		q, _ := quotaByCode(r.Code)
		if r.Region == c.Region && (serviceCode == nil || *serviceCode == q.service) && (quotaCode == nil || *quotaCode == q.code) && (status == "" || status == r.Status) {
			found = append(found, r)
		}
	}
	part, next, err := page(found, func(r *request) string { return r.ID }, max, token)
	if err != nil {
		return nil, nil, err
	}
	all := []types.RequestedServiceQuotaChange{}
	for _, r := range part {
		all = append(all, s.shownRequest(c, r))
	}
	return all, next, nil
}

func (s *Service) listHistory(c *service.Call, in *servicequotas.ListRequestedServiceQuotaChangeHistoryInput) (*servicequotas.ListRequestedServiceQuotaChangeHistoryOutput, error) {
	all, next, err := s.history(c, in.ServiceCode, nil, in.Status, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &servicequotas.ListRequestedServiceQuotaChangeHistoryOutput{RequestedQuotas: all, NextToken: next}, nil
}

func (s *Service) listHistoryByQuota(c *service.Call, in *servicequotas.ListRequestedServiceQuotaChangeHistoryByQuotaInput) (*servicequotas.ListRequestedServiceQuotaChangeHistoryByQuotaOutput, error) {
	if _, err := lookup(in.ServiceCode, in.QuotaCode); err != nil {
		return nil, err
	}
	all, next, err := s.history(c, in.ServiceCode, in.QuotaCode, in.Status, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &servicequotas.ListRequestedServiceQuotaChangeHistoryByQuotaOutput{RequestedQuotas: all, NextToken: next}, nil
}
