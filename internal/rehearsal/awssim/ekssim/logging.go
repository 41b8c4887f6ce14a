package ekssim

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// mergedLogging returns the log types on and off after the request; those that
// nobody mentioned are off. Every known type is listed, as EKS does.
func mergedLogging(current, in *types.Logging) (*types.Logging, error) {
	on := map[types.LogType]bool{}
	known := types.LogType("").Values()
	for _, logging := range []*types.Logging{current, in} {
		if logging == nil {
			continue
		}
		for _, setup := range logging.ClusterLogging {
			for _, t := range setup.Types {
				if !slices.Contains(known, t) {
					return nil, invalidParameter("unknown cluster log type %s", t)
				}
				on[t] = aws.ToBool(setup.Enabled)
			}
		}
	}
	out := &types.Logging{}
	for _, enabled := range []bool{true, false} {
		var set []types.LogType
		for _, t := range known {
			if on[t] == enabled {
				set = append(set, t)
			}
		}
		if len(set) > 0 {
			out.ClusterLogging = append(out.ClusterLogging, types.LogSetup{Enabled: aws.Bool(enabled), Types: set})
		}
	}
	return out, nil
}

func sameLogging(a, b *types.Logging) bool {
	return slices.EqualFunc(a.ClusterLogging, b.ClusterLogging, func(x, y types.LogSetup) bool {
		return *x.Enabled == *y.Enabled && slices.Equal(x.Types, y.Types)
	})
}
