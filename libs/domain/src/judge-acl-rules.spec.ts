import { describe, expect, it } from 'vitest';
import { explainAclRules } from './judge-acl-rules.ts';

describe('explainAclRules', () => {
  it.each([
    '~cache:* +@read',
    'on ~cache:* &news.* +@read +set -@dangerous',
    'allkeys allchannels +@all -@admin',
    '~* +@all -@dangerous +role +slowlog|get',
    '~* +@connection -@admin',
    '~* +acl|whoami +client|setname +client|id',
    '%R~a* %W~b* +get +set',
    '~a +get (~b* +@write) (%R~c +get)',
    '~a(b) +get',
    '~a>b +get',
    '+config -config +get ~*',
    '~* +@all -@admin +json.get',
    'resetkeys resetchannels nocommands +ping',
    '~* &news.* +publish',
    '~* &__sentinel__:* +subscribe',
    '~* &__s* +@all -@admin -publish',
    '~* &__s* resetchannels &a* +publish',
    '~* &__sentinel__:hell +publish',
    '~* &[^_]* &_[^_]* +publish',
  ])('takes %s', (rules) => {
    expect(explainAclRules(rules)).toBeUndefined();
  });

  it.each([
    ['~* +get >secret', /no password/],
    ['~* +get #aabb', /no password/],
    ['~* +get <old', /no password/],
    ['~* (+get ~a >secret)', /no password/],
    ['nopass ~* +get', /belongs to the operator/],
    ['RESET ~* +get', /belongs to the operator/],
    ['off', /belongs to the operator/],
    ['~* +@all', /\+@all grants .* -@admin/],
    ['~* ALLCOMMANDS', /allcommands grants/],
    ['~* -@admin +@all', /-@admin after it/],
    ['~* +@slow', /\+@slow grants/],
    ['~* +get (+@all ~*)', /\+@all grants/],
    ['~* +@all -@admin +config|get', /\+config\|get changes the server/],
    ['~* +CLIENT', /\+client changes the server/],
    ['~* +client|pause', /\+client\|pause/],
    ['~* +replicaof', /\+replicaof/],
    ['~* +@nothing', /no category @nothing/],
    ['~* get', /get is no rule/],
    ['~* +get (+set', /not closed/],
    ['~* +get +set)', /is no rule/],
    ['~* ((+get))', /not closed/],
    ['~* &__sentinel__:hello +publish', /&__sentinel__:hello with PUBLISH/],
    ['~* &__s* +@pubsub', /who is primary/],
    ['~* &?_sentinel__:hello +@all -@admin', /who is primary/],
    ['~* &*hello +@fast', /who is primary/],
    ['~* &[a_]_sentinel__:hell[m-p] +publish', /who is primary/],
    ['~* +get (&_* +publish)', /who is primary/],
    ['~* -publish &_* +publish', /who is primary/],
  ])('refuses %s', (rules, reason) => {
    expect(explainAclRules(rules)).toMatch(reason);
  });
});
