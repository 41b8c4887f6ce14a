.PHONY: build rehearse test bench check

# Builds bin/krops and bin/krops-cluster.
build:
	@scripts/build

# Lives an environment's whole life on this machine.
rehearse: build
	@bin/krops rehearse aws

# Installs what the tests need, checks the code, and runs all tests.
test: build
	@scripts/setup-tests
	@scripts/build k8s.io/kubernetes/cmd/kubectl
	@scripts/check
	@printf '\n== end-to-end tests\n'
	@KROPS_BIN=$(CURDIR)/bin PATH=$(CURDIR)/bin:$$PATH CGO_ENABLED=0 go test -count=1 -timeout 30m -p 1 -v ./e2e/...

# Measures the figures that the project promises; each line is name, value,
# unit, bar. It fails when a bar is missed.
bench: build
	@CGO_ENABLED=0 go run ./internal/bench
