package main

func cloudformationOperations() []string {
	return []string{
		"CreateStack", "UpdateStack", "DeleteStack", "CancelUpdateStack", "ContinueUpdateRollback", "RollbackStack",
		"DescribeStacks", "DescribeStackEvents", "DescribeStackResource", "DescribeStackResources",
		"ListStacks", "ListStackResources", "ListExports", "ListImports",
		"GetTemplate", "GetTemplateSummary", "ValidateTemplate", "EstimateTemplateCost",
		"CreateChangeSet", "DeleteChangeSet", "DescribeChangeSet", "ExecuteChangeSet", "ListChangeSets",
		"DescribeAccountLimits", "GetStackPolicy", "SetStackPolicy", "UpdateTerminationProtection",
	}
}

func rdsOperations() []string {
	return []string{
		"CreateDBInstance", "DeleteDBInstance", "DescribeDBInstances", "ModifyDBInstance", "RebootDBInstance",
		"StartDBInstance", "StopDBInstance", "RestoreDBInstanceFromDBSnapshot", "CreateDBInstanceReadReplica",
		"CreateDBSnapshot", "DeleteDBSnapshot", "DescribeDBSnapshots",
		"DescribeDBInstanceAutomatedBackups", "DeleteDBInstanceAutomatedBackup",
		"CreateDBSubnetGroup", "DeleteDBSubnetGroup", "DescribeDBSubnetGroups", "ModifyDBSubnetGroup",
		"AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource",
		"CreateDBParameterGroup", "DeleteDBParameterGroup", "DescribeDBParameterGroups",
		"CreateDBCluster", "DeleteDBCluster", "DescribeDBClusters", "ModifyDBCluster", "DescribeDBClusterSnapshots",
		"DescribeDBEngineVersions", "DescribeOrderableDBInstanceOptions", "DescribeAccountAttributes",
		"DescribeEvents", "DescribePendingMaintenanceActions", "DescribeOptionGroups", "DescribeDBProxies", "DescribeGlobalClusters",
	}
}

func ssmOperations() []string {
	return []string{
		"GetParameter", "GetParameters", "GetParametersByPath", "PutParameter", "DeleteParameter", "DeleteParameters",
		"DescribeParameters", "GetParameterHistory", "LabelParameterVersion",
		"AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource",
	}
}

func s3Operations() []string {
	return []string{
		"CreateBucket", "DeleteBucket", "HeadBucket", "ListBuckets", "GetBucketLocation",
		// what a bucket is configured with
		"GetBucketAbac", "PutBucketAbac",
		"GetBucketAccelerateConfiguration", "PutBucketAccelerateConfiguration",
		"GetBucketAcl", "PutBucketAcl",
		"GetBucketAnalyticsConfiguration", "PutBucketAnalyticsConfiguration",
		"DeleteBucketAnalyticsConfiguration", "ListBucketAnalyticsConfigurations",
		"GetBucketCors", "PutBucketCors", "DeleteBucketCors",
		"GetBucketEncryption", "PutBucketEncryption", "DeleteBucketEncryption",
		"GetBucketIntelligentTieringConfiguration", "PutBucketIntelligentTieringConfiguration",
		"DeleteBucketIntelligentTieringConfiguration", "ListBucketIntelligentTieringConfigurations",
		"GetBucketInventoryConfiguration", "PutBucketInventoryConfiguration",
		"DeleteBucketInventoryConfiguration", "ListBucketInventoryConfigurations",
		"GetBucketLifecycleConfiguration", "PutBucketLifecycleConfiguration", "DeleteBucketLifecycle",
		"GetBucketLogging", "PutBucketLogging",
		"GetBucketMetricsConfiguration", "PutBucketMetricsConfiguration",
		"DeleteBucketMetricsConfiguration", "ListBucketMetricsConfigurations",
		"GetBucketNotificationConfiguration", "PutBucketNotificationConfiguration",
		"GetBucketOwnershipControls", "PutBucketOwnershipControls", "DeleteBucketOwnershipControls",
		"GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy", "GetBucketPolicyStatus",
		"GetPublicAccessBlock", "PutPublicAccessBlock", "DeletePublicAccessBlock",
		"GetBucketReplication", "PutBucketReplication", "DeleteBucketReplication",
		"GetBucketRequestPayment", "PutBucketRequestPayment",
		"GetBucketTagging", "PutBucketTagging", "DeleteBucketTagging",
		"GetBucketVersioning", "PutBucketVersioning",
		"GetBucketWebsite", "PutBucketWebsite", "DeleteBucketWebsite",
		"GetObjectLockConfiguration", "PutObjectLockConfiguration",
		// objects
		"PutObject", "GetObject", "HeadObject", "DeleteObject", "DeleteObjects", "CopyObject", "GetObjectAttributes",
		"ListObjects", "ListObjectsV2", "ListObjectVersions",
		"GetObjectAcl", "PutObjectAcl", "GetObjectTagging", "PutObjectTagging", "DeleteObjectTagging",
		"GetObjectRetention", "PutObjectRetention", "GetObjectLegalHold", "PutObjectLegalHold", "RestoreObject",
		"CreateMultipartUpload", "UploadPart", "UploadPartCopy", "CompleteMultipartUpload", "AbortMultipartUpload",
		"ListParts", "ListMultipartUploads",
	}
}
