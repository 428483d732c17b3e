// Random walks of one model, bit-sliced: a thread has 32 walks, and bit n of each of its words belongs to walk n.
//
// The program is compiled with the text of a model, `model.h`, which `python -m bench.gpu` writes. A CUDA compiler makes
// a program for a GPU of it, another C++ compiler one that runs the threads one after another. The walks, their random
// numbers and the counts are those of `kwalk walk` (search/simulation/resident_walks.py), where each round is explained.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

typedef uint32_t word;
typedef uint64_t u64;

#ifdef __CUDACC__
#define DEVICE __device__
#define INLINE __device__ __forceinline__
#define APART __device__ __noinline__
#define KERNEL __global__ void
#else
#define DEVICE
#define INLINE inline
#define APART
#define KERNEL void
#endif

// A function of three words, bit by bit: bit r of ROWS is its value in row r, as gates.py and LOP3 number them.
template <int ROWS> INLINE word table(word a, word b, word c) {
#ifdef __CUDA_ARCH__
  word value;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(value) : "r"(a), "r"(b), "r"(c), "n"(ROWS));
  return value;
#else
  word value = 0;
  for (int row = 0; row < 8; row++)
    if (ROWS >> row & 1) value |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  return value;
#endif
}

#include "model.h"

const u64 GOLDEN = 0x9E3779B97F4A7C15;
const int LANES = 32, BEGIN_SHARE = 16, STEP_BITS = 20;
enum { VISITS, STEPS, DEAD_ENDS, FAILED, QUIESCENT, ENABLED };
const int TAKEN = ENABLED + INSTANCES, CHANGED = TAKEN + INSTANCES, BOUND_HITS = CHANGED + INSTANCES;
const int PREMISES = BOUND_HITS + BOUNDS, HITS = PREMISES + PROPERTIES, TOTALS = HITS + PROPERTIES + 1;

INLINE u64 mix(u64 number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}

#ifdef __CUDA_ARCH__
INLINE int bits_of(word plane) { return __popc(plane); }
INLINE int lowest(word plane) { return __ffs(plane) - 1; }
INLINE int sum_of_group(int number) { return __reduce_add_sync(~0u, number); }
INLINE bool any_of_group(bool one) { return __any_sync(~0u, one); }
INLINE void add(u64 *total, word number) {
  u64 sum = number;
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd((unsigned long long *)total, (unsigned long long)sum);
}
INLINE void lessen(u64 *least, u64 number) { atomicMin((unsigned long long *)least, (unsigned long long)number); }
const int GROUP = 32;
#else
INLINE int bits_of(word plane) { return __builtin_popcount(plane); }
INLINE int lowest(word plane) { return __builtin_ctz(plane); }
INLINE int sum_of_group(int number) { return number; }
INLINE bool any_of_group(bool one) { return one; }
INLINE void add(u64 *total, word number) { *total += number; }
INLINE void lessen(u64 *least, u64 number) { *least = number < *least ? number : *least; }
const int GROUP = 1;
#endif

// Transpose the 8 × 8 bits in each byte of eight words.
INLINE void transpose(word *rows) {
  const word masks[] = {0x0F0F0F0F, 0x33333333, 0x55555555};
#pragma unroll
  for (int turn = 0; turn < 3; turn++) {
    const int step = 4 >> turn;
#pragma unroll
    for (int row = 0; row < 8; row++) {
      if (row & step) continue;
      word differ = ((rows[row] >> step) ^ rows[row + step]) & masks[turn];
      rows[row] ^= differ << step;
      rows[row + step] ^= differ;
    }
  }
}

// Map a random number to one below a size of at most eight bits.
INLINE word scale(u64 random, word size) {
  u64 low = (u64)(word)random * size;
  return (word)(((random >> 32) * size + (low >> 32)) >> 32);
}

struct Lanes {  // what a thread keeps of each of its walks by itself
  u64 *randoms;  // the stream, minus GOLDEN times the round
  word *numbers;  // which walk of the thread it is
  int stride;

  INLINE u64 &random(int lane) const { return randoms[lane * stride]; }
  INLINE word &number(int lane) const { return numbers[lane * stride]; }
};

struct Run {
  u64 seed, first, last, *totals, *least;
};

struct Found {  // the violations of a thread
  word known[PROPERTIES + 1], open[PROPERTIES + 1], hits[PROPERTIES + 1];
  u64 any;
};

INLINE void note(const Run &run, const Lanes &lanes, u64 thread, u64 threads, const word *left, int prop, word violated,
                 Found &found) {
  word fresh = violated & ~found.known[prop];
  found.known[prop] |= fresh;
  found.hits[prop] += bits_of(fresh);
  fresh &= found.open[prop];
  if (!fresh) return;
  word least = ~0u;
  for (; fresh; fresh &= fresh - 1) {
    int lane = lowest(fresh);
    word number = lanes.number(lane), steps = 0;
#pragma unroll
    for (int bit = 0; bit < LEFT_BITS; bit++) steps |= (left[bit] >> lane & 1) << bit;
    lessen(run.least + prop, (run.first + thread + threads * number) << STEP_BITS | (DEPTH - steps));
    least = number < least ? number : least;
  }
  word open = 0;  // later walks of the thread need not be looked at
  for (int lane = 0; lane < LANES; lane++) open |= (word)(lanes.number(lane) < least) << lane;
  found.open[prop] = open;
  found.any |= (u64)1 << prop;
}

DEVICE void walks_of(const Run run, const Lanes lanes, u64 thread, u64 threads) {
  word planes[PLANES], left[LEFT_BITS], enabled[INSTANCES + 1], chosen[INSTANCES], excluded[INSTANCES];
  word saved[CHECKS_STEPS ? PLANES : 1], properties[2 * ROW], results[3 + BOUNDS];
  word enableds[INSTANCES], takens[INSTANCES], changes[INSTANCES], bound_hits[BOUNDS + 1], premises[PROPERTIES];
  word active = 0, again = 0, apart = 0, visits = 0, steps = 0, dead_ends = 0, failures = 0, quiets = 0, next = 0;
  u64 streams[LANES];  // of the walks apart, whose entry in `lanes` repeats a choice
  Found found;
  u64 round = 0;
#pragma unroll
  for (int n = 0; n < PLANES; n++) planes[n] = 0;
#pragma unroll
  for (int n = 0; n < LEFT_BITS; n++) left[n] = 0;
#pragma unroll
  for (int n = 0; n < INSTANCES; n++) excluded[n] = enableds[n] = takens[n] = changes[n] = 0;
#pragma unroll
  for (int n = 0; n < BOUNDS; n++) bound_hits[n] = 0;
#pragma unroll
  for (int n = 0; n <= PROPERTIES; n++) {
    found.known[n] = found.hits[n] = 0, found.open[n] = ~0u;
    if (n < PROPERTIES) premises[n] = 0;
  }
  found.any = 0;
  const u64 own = run.first + thread < run.last ? (run.last - run.first - thread + threads - 1) / threads : 0;

  for (;; round++) {
    // Begin walks, once enough lanes of the group have none.
    if (any_of_group(next < own) && sum_of_group(bits_of(~active)) * BEGIN_SHARE >= LANES * GROUP) {
      word begun = 0;
      for (word idle = ~active; idle && next < own; idle &= idle - 1, next++) {
        int lane = lowest(idle);
        u64 walk = run.first + thread + threads * next;
        lanes.random(lane) = mix(run.seed + walk * GOLDEN) + GOLDEN + GOLDEN - round * GOLDEN;
        lanes.number(lane) = next;
        begun |= (word)1 << lane;
      }
      active |= begun;
      apart &= ~begun;
      begin(planes, &begun);
#pragma unroll
      for (int bit = 0; bit < LEFT_BITS; bit++) left[bit] = DEPTH >> bit & 1 ? left[bit] | begun : left[bit] & ~begun;
#pragma unroll
      for (int prop = 0; prop <= PROPERTIES; prop++) {
        found.known[prop] &= ~begun;
        found.open[prop] &= found.any >> prop & 1 ? ~begun : ~0u;
      }
    }
    if (!any_of_group(active)) break;

    // Visit.
    const word fresh = active & ~again;
    guards(planes, enabled);
    visits += bits_of(fresh);
    quiets += bits_of(fresh & enabled[INSTANCES]);
#pragma unroll
    for (int n = 0; n < INSTANCES; n++) enableds[n] += bits_of(fresh & enabled[n]);
    if (CHECKS_STATES) {
      check(planes, enabled + INSTANCES, properties);
#pragma unroll
      for (int prop = 0; prop < PROPERTIES; prop++) {
        premises[prop] += bits_of(fresh & properties[ROW + prop]);
        if (STATE_CHECKED >> prop & 1) note(run, lanes, thread, threads, left, prop, properties[prop] & fresh, found);
      }
    }

    // Choose an instance in each lane that has steps left: count those that can be chosen, and draw a rank.
    word going = 0, some = 0, counts[8], ranks[8];
#pragma unroll
    for (int bit = 0; bit < LEFT_BITS; bit++) going |= left[bit];
    going &= active;
#pragma unroll
    for (int n = 0; n < INSTANCES; n++) {
      word row = BOUNDS ? enabled[n] & ~excluded[n] : enabled[n];
      some |= row;
      chosen[n] = row & going;
    }
    dead_ends += bits_of(going & ~some);
    if (DEADLOCK) note(run, lanes, thread, threads, left, PROPERTIES, fresh & ~some, found);
    if (BOUNDS) {
      for (word bits = again | apart; bits; bits &= bits - 1) {
        const int lane = lowest(bits);
        const word bit = (word)1 << lane;
        if (again & bit) {  // the next number after the last one; the stream stays
          u64 last = mix(lanes.random(lane) + (round - 1) * GOLDEN);
          streams[lane] = (apart & bit ? streams[lane] : lanes.random(lane)) - GOLDEN;
          lanes.random(lane) = last + GOLDEN - round * GOLDEN;
        } else {
          lanes.random(lane) = streams[lane];
        }
      }
      apart = again;
    }
    count(chosen, counts);
#pragma unroll
    for (int bit = COUNT_BITS; bit < 8; bit++) counts[bit] = 0;
    transpose(counts);
    const u64 turn = round * GOLDEN;
#pragma unroll
    for (int place = 0; place < 8; place++) {
      ranks[place] = 0;
#pragma unroll
      for (int byte = 0; byte < LANES; byte += 8)
        ranks[place] |= scale(mix(lanes.random(byte + place) + turn), counts[place] >> byte & 255) << byte;
    }
    transpose(ranks);
    choose(chosen, ranks, chosen);

    // Take the steps, one instance after another.
    word taken = 0, failed = 0, blocked = 0;
    if (CHECKS_STEPS) save(planes, saved);
#define TAKE(n)                                                    \
  if (any_of_group(chosen[n])) {                                   \
    apply_##n(planes, chosen + n, results);                        \
    takens[n] += bits_of(results[0]);                              \
    changes[n] += bits_of(results[2]);                             \
    taken |= results[0];                                           \
    const word disabled = chosen[n] & ~results[0];                 \
    if (disabled) {                                                \
      failed |= results[1];                                        \
      blocked |= disabled & ~results[1];                           \
      excluded[n] |= disabled & ~results[1];                       \
      for (int bound = 0; bound < BOUNDS; bound++) bound_hits[bound] += bits_of(results[3 + bound]); \
    }                                                              \
  }
    FOR_EACH_INSTANCE(TAKE)
    steps += bits_of(taken);
    failures += bits_of(failed);
    word borrow = taken;
#pragma unroll
    for (int bit = 0; bit < LEFT_BITS; bit++) {
      word before = left[bit];
      left[bit] ^= borrow;
      borrow &= ~before;
    }
    if (CHECKS_STEPS) {
      check_step(saved, planes, properties);
#pragma unroll
      for (int prop = 0; prop < PROPERTIES; prop++) {
        premises[prop] += bits_of(taken & properties[ROW + prop]);
        if (STEP_CHECKED >> prop & 1) note(run, lanes, thread, threads, left, prop, properties[prop] & taken, found);
      }
    }

    // Settle.
    if (BOUNDS) {
      if (again | blocked) {
#pragma unroll
        for (int n = 0; n < INSTANCES; n++) excluded[n] &= blocked;
      }
      again = blocked;
    }
    active = blocked | taken;
  }

  add(run.totals + VISITS, visits);
  add(run.totals + STEPS, steps);
  add(run.totals + DEAD_ENDS, dead_ends);
  add(run.totals + FAILED, failures);
  add(run.totals + QUIESCENT, quiets);
#pragma unroll
  for (int n = 0; n < INSTANCES; n++) {
    add(run.totals + ENABLED + n, enableds[n]);
    add(run.totals + TAKEN + n, takens[n]);
    add(run.totals + CHANGED + n, changes[n]);
  }
#pragma unroll
  for (int n = 0; n < BOUNDS; n++) add(run.totals + BOUND_HITS + n, bound_hits[n]);
#pragma unroll
  for (int n = 0; n <= PROPERTIES; n++) {
    if (n < PROPERTIES) add(run.totals + PREMISES + n, premises[n]);
    add(run.totals + HITS + n, found.hits[n]);
  }
}

#ifdef __CUDACC__
KERNEL __launch_bounds__(THREADS) kernel(Run run) {
  extern __shared__ u64 shared[];
  const Lanes lanes = {shared + threadIdx.x, (word *)(shared + LANES * THREADS) + threadIdx.x, THREADS};
  walks_of(run, lanes, (u64)blockIdx.x * THREADS + threadIdx.x, (u64)gridDim.x * THREADS);
}

static void must(cudaError_t code) {
  if (code != cudaSuccess) fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code)), exit(1);
}
#endif

static void print(const char *name, const u64 *numbers, int count) {
  printf("\"%s\": [", name);
  for (int n = 0; n < count; n++) printf("%s%llu", n ? ", " : "", (unsigned long long)numbers[n]);
  printf("], ");
}

// Arguments: the seed as `mixed_seed` returns it, and the numbers of the first walk and of the one after the last.
int main(int, char **arguments) {
  static u64 counted[TOTALS + PROPERTIES + 1];
  Run run = {strtoull(arguments[1], 0, 10), strtoull(arguments[2], 0, 10), strtoull(arguments[3], 0, 10), 0, 0};
  for (int n = 0; n <= PROPERTIES; n++) counted[TOTALS + n] = ~(u64)0;
  printf("{");
#ifdef __CUDACC__
  cudaFuncAttributes made;
  cudaDeviceProp device;
  cudaEvent_t before, after;
  const int shared = THREADS * LANES * (sizeof(u64) + sizeof(word));
  int blocks;
  float milliseconds;
  u64 *there;
  must(cudaGetDeviceProperties(&device, 0));
  must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  must(cudaFuncGetAttributes(&made, kernel));
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, shared));
  must(cudaMalloc(&there, sizeof counted));
  must(cudaMemcpy(there, counted, sizeof counted, cudaMemcpyHostToDevice));
  run.totals = there, run.least = there + TOTALS;
  must(cudaEventCreate(&before));
  must(cudaEventCreate(&after));
  must(cudaEventRecord(before));
  kernel<<<blocks * device.multiProcessorCount, THREADS, shared>>>(run);
  must(cudaGetLastError());
  must(cudaEventRecord(after));
  must(cudaEventSynchronize(after));
  must(cudaEventElapsedTime(&milliseconds, before, after));
  must(cudaMemcpy(counted, there, sizeof counted, cudaMemcpyDeviceToHost));
  printf("\"device\": \"%s\", \"seconds\": %.6f, \"registers\": %d, \"local_bytes\": %d, \"blocks\": %d, \"threads\": %d, ",
         device.name, milliseconds / 1e3, made.numRegs, (int)made.localSizeBytes, blocks, THREADS);
#else
  static u64 randoms[LANES];
  static word numbers[LANES];
  run.totals = counted, run.least = counted + TOTALS;
  for (int thread = 0; thread < THREADS; thread++) walks_of(run, {randoms, numbers, 1}, thread, THREADS);
#endif
  print("enabled", counted + ENABLED, INSTANCES);
  print("taken", counted + TAKEN, INSTANCES);
  print("changed", counted + CHANGED, INSTANCES);
  print("bound_hits", counted + BOUND_HITS, BOUNDS);
  print("premises", counted + PREMISES, PROPERTIES);
  print("property_hits", counted + HITS, PROPERTIES + 1);
  print("first", counted + TOTALS, PROPERTIES + 1);
  printf("\"visits\": %llu, \"steps\": %llu, \"dead_ends\": %llu, \"failed\": %llu, \"quiescent\": %llu}\n",
         (unsigned long long)counted[VISITS], (unsigned long long)counted[STEPS], (unsigned long long)counted[DEAD_ENDS],
         (unsigned long long)counted[FAILED], (unsigned long long)counted[QUIESCENT]);
  return 0;
}
