// The volume provisioner of a local cluster: StorageClass "local", the default one.
//
// It decides, from claims and volumes alone, which folders exist under the volumes folder:
// a claim that the scheduler placed gets a folder of mode 0777 (so that a pod that is not root can write it), reached
// through a hostPath volume bound to that node; a released volume of policy Delete loses its folder; a claim that
// asks for more gets it, because a folder has no size of its own.
// Invariant: a folder is removed only when its own volume object is Released and its policy says Delete.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	className          = "local"
	provisionerName    = "atoll.dev/local"
	provisionedBy      = "pv.kubernetes.io/provisioned-by"
	storageProvisioner = "volume.kubernetes.io/storage-provisioner"
	selectedNode       = "volume.kubernetes.io/selected-node"
	defaultClass       = "storageclass.kubernetes.io/is-default-class"
)

type provisioner struct {
	client  kubernetes.Interface
	folder  string
	claims  func() ([]*v1.PersistentVolumeClaim, error)
	volumes func() ([]*v1.PersistentVolume, error)
	class   func() (*storage.StorageClass, error)
	volume  func(name string) (*v1.PersistentVolume, error)
}

func newProvisionerCommand() *cobra.Command {
	var kubeconfig, folder string
	command := &cobra.Command{
		Use:          "provisioner",
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			return runProvisioner(command.Context(), kubeconfig, folder)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "credentials for the API server")
	command.Flags().StringVar(&folder, "folder", "", "where the volumes' folders are made, one folder a node")
	return command
}

func runProvisioner(ctx context.Context, kubeconfig, folder string) error {
	if ctx == nil {
		ctx = context.Background()
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := ensureStorageClass(ctx, client); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core, classes := factory.Core().V1(), factory.Storage().V1().StorageClasses()
	p := &provisioner{
		client: client,
		folder: folder,
		claims: func() ([]*v1.PersistentVolumeClaim, error) {
			return core.PersistentVolumeClaims().Lister().List(labels.Everything())
		},
		volumes: func() ([]*v1.PersistentVolume, error) {
			return core.PersistentVolumes().Lister().List(labels.Everything())
		},
		class:  func() (*storage.StorageClass, error) { return classes.Lister().Get(className) },
		volume: core.PersistentVolumes().Lister().Get,
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(_, _ any) { notify() },
		DeleteFunc: func(any) { notify() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer(), classes.Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for {
		if err := p.pass(ctx); err != nil {
			klog.ErrorS(err, "Pass failed, trying again")
			time.AfterFunc(time.Second, notify)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

func ensureStorageClass(ctx context.Context, client kubernetes.Interface) error {
	binding, reclaim, expansion := storage.VolumeBindingWaitForFirstConsumer, v1.PersistentVolumeReclaimDelete, true
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storage.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: className, Annotations: map[string]string{defaultClass: "true"}},
		Provisioner:          provisionerName,
		ReclaimPolicy:        &reclaim,
		VolumeBindingMode:    &binding,
		AllowVolumeExpansion: &expansion,
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// pass looks at every claim and volume once; each step is idempotent, so a pass may be repeated at any time.
func (p *provisioner) pass(ctx context.Context) error {
	claims, err := p.claims()
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if claim.Annotations[storageProvisioner] != provisionerName || claim.DeletionTimestamp != nil {
			continue
		}
		if claim.Status.Phase == v1.ClaimBound {
			err = p.expand(ctx, claim)
		} else if claim.Spec.VolumeName == "" && claim.Annotations[selectedNode] != "" {
			err = p.provision(ctx, claim)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
	}
	volumes, err := p.volumes()
	if err != nil {
		return err
	}
	for _, volume := range volumes {
		if err := p.reclaim(ctx, volume); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return nil
}

func (p *provisioner) provision(ctx context.Context, claim *v1.PersistentVolumeClaim) error {
	name, node := "pvc-"+string(claim.UID), claim.Annotations[selectedNode]
	if _, err := p.volume(name); err == nil {
		return nil
	}
	class, err := p.class()
	if err != nil {
		return err
	}
	path := filepath.Join(p.folder, node, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o777); err != nil { // MkdirAll's mode goes through the umask
		return err
	}
	directory := v1.HostPathDirectory
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: provisionerName}},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      v1.ResourceList{v1.ResourceStorage: claim.Spec.Resources.Requests[v1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
			StorageClassName:              *claim.Spec.StorageClassName,
			PersistentVolumeSource:        v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: path, Type: &directory}},
			ClaimRef: &v1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{node}}},
			}}}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	klog.InfoS("Provisioned", "claim", klog.KObj(claim), "volume", name, "node", node, "err", err)
	return err
}

// expand raises the volume's capacity, then the claim's: in that order, so that an interrupted pass is taken up again.
func (p *provisioner) expand(ctx context.Context, claim *v1.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[v1.ResourceStorage]
	if has := claim.Status.Capacity[v1.ResourceStorage]; wanted.Cmp(has) <= 0 {
		return nil
	}
	volume, err := p.volume(claim.Spec.VolumeName)
	if err != nil {
		return err
	}
	if has := volume.Spec.Capacity[v1.ResourceStorage]; wanted.Cmp(has) > 0 {
		volume = volume.DeepCopy()
		volume.Spec.Capacity = withStorage(volume.Spec.Capacity, wanted)
		if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	claim = claim.DeepCopy()
	claim.Status.Capacity = withStorage(claim.Status.Capacity, wanted)
	claim.Status.Conditions = nil
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	klog.InfoS("Expanded", "claim", klog.KObj(claim), "capacity", wanted.String(), "err", err)
	return err
}

func withStorage(capacity v1.ResourceList, wanted resource.Quantity) v1.ResourceList {
	if capacity == nil {
		capacity = v1.ResourceList{}
	}
	capacity[v1.ResourceStorage] = wanted
	return capacity
}

func (p *provisioner) reclaim(ctx context.Context, volume *v1.PersistentVolume) error {
	ours := volume.Annotations[provisionedBy] == provisionerName && volume.Spec.HostPath != nil
	released := volume.Status.Phase == v1.VolumeReleased && volume.DeletionTimestamp == nil
	if !ours || !released || volume.Spec.PersistentVolumeReclaimPolicy != v1.PersistentVolumeReclaimDelete {
		return nil
	}
	if err := os.RemoveAll(volume.Spec.HostPath.Path); err != nil {
		return err
	}
	klog.InfoS("Reclaimed", "volume", volume.Name)
	return p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
}
