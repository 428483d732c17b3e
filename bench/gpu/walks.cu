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
#define INLINE __device__ __forceinline__
#define APART __device__ __noinline__
#else
#define INLINE inline
#define APART
#endif

// How large a model is, by its tables (SIZE of `model.h`), decides where its words are, and who waits for whom: a GPU
// runs code that does not fit its caches faster if the threads of a block run the same part of it.
// SMALL: all in registers; warps go on by themselves.
// MEDIUM: the threads of a warp share the counts; the warps of a block begin each round together.
// LARGE: functions have arrays in memory; the warps of a block also begin each step together.
#define SMALL 0
#define MEDIUM 1
#define LARGE 2

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
const int LANES = 32, BEGIN_SHARE = 16, STEP_BITS = 20, ROUNDS = 1 << 20;
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
INLINE bool any_of_block(bool one) { return SIZE == SMALL ? __any_sync(~0u, one) : __syncthreads_or(one); }
INLINE void wait_for_block() {
  if (SIZE == LARGE) __syncthreads();
}
INLINE int place_in_group() { return threadIdx.x % 32; }
INLINE void add(u64 *total, u64 number) { atomicAdd((unsigned long long *)total, (unsigned long long)number); }
INLINE void lessen(u64 *least, u64 number) { atomicMin((unsigned long long *)least, (unsigned long long)number); }
const int GROUP = 32;
#else
INLINE int bits_of(word plane) { return __builtin_popcount(plane); }
INLINE int lowest(word plane) { return __builtin_ctz(plane); }
INLINE int sum_of_group(int number) { return number; }
INLINE bool any_of_group(bool one) { return one; }
INLINE bool any_of_block(bool one) { return one; }
INLINE void wait_for_block() {}
INLINE int place_in_group() { return 0; }
INLINE void add(u64 *total, u64 number) { *total += number; }
INLINE void lessen(u64 *least, u64 number) { *least = number < *least ? number : *least; }
const int GROUP = 1;
#endif

const int SHARE = SIZE == SMALL ? 1 : GROUP;

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
  word known[PROPERTIES + 1], open[PROPERTIES + 1];
  u64 any;
};

struct Counts {  // of a thread, or of a group, where each of its threads has some of them: that takes few registers
  word own[(TOTALS + SHARE - 1) / SHARE];

  INLINE void count(int number, word plane) {
    word bits = bits_of(plane);
    if (SHARE > 1) bits = sum_of_group(bits);
    own[number / SHARE] += place_in_group() % SHARE == number % SHARE ? bits : 0;
  }

  INLINE void clear() {
#pragma unroll
    for (int place = 0; place < (TOTALS + SHARE - 1) / SHARE; place++) own[place] = 0;
  }

  INLINE void add_to(u64 *totals) {
#pragma unroll
    for (int place = 0; place < (TOTALS + SHARE - 1) / SHARE; place++) {
      word sum = SHARE > 1 ? own[place] : sum_of_group(own[place]);
      if (sum && (SHARE > 1 || place_in_group() == 0)) add(totals + place * SHARE + place_in_group() % SHARE, sum);
    }
    clear();
  }
};

INLINE void note(const Run &run, const Lanes &lanes, u64 thread, u64 threads, const word *left, int prop, word violated,
                 Found &found, Counts &counts) {
  word fresh = violated & ~found.known[prop];
  if (!any_of_group(fresh)) return;
  found.known[prop] |= fresh;
  counts.count(HITS + prop, fresh);
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

INLINE void walks_of(const Run run, const Lanes lanes, u64 thread, u64 threads) {
  word planes[PLANES], left[LEFT_BITS], enabled[INSTANCES + 1], excluded[INSTANCES];
  word saved[CHECKS_STEPS ? PLANES : 1], properties[2 * ROW], results[3 + BOUNDS];
  word active = 0, again = 0, apart = 0, next = 0;
  u64 streams[LANES];  // of the walks apart, whose entry in `lanes` repeats a choice
  Found found;
  Counts counts;
  u64 round = 0;
#pragma unroll
  for (int n = 0; n < PLANES; n++) planes[n] = 0;
#pragma unroll
  for (int n = 0; n < LEFT_BITS; n++) left[n] = 0;
#pragma unroll
  for (int n = 0; n < INSTANCES; n++) excluded[n] = 0;
#pragma unroll
  for (int n = 0; n <= PROPERTIES; n++) found.known[n] = 0, found.open[n] = ~0u;
  found.any = 0;
  counts.clear();
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
    if (!any_of_block(active)) break;
    if (round % ROUNDS == ROUNDS - 1) counts.add_to(run.totals);

    // Visit.
    const word fresh = active & ~again;
    guards(planes, enabled);
    counts.count(VISITS, fresh);
    counts.count(QUIESCENT, fresh & enabled[INSTANCES]);
    if (CHECKS_STATES) {
      check(planes, enabled + INSTANCES, properties);
#pragma unroll
      for (int prop = 0; prop < PROPERTIES; prop++) {
        counts.count(PREMISES + prop, fresh & properties[ROW + prop]);
        if (STATE_CHECKED >> prop & 1) note(run, lanes, thread, threads, left, prop, properties[prop] & fresh, found, counts);
      }
    }

    // Choose an instance in each lane that has steps left: count those that can be chosen, and draw a rank.
    word going = 0, some = 0, sizes[8], ranks[8];
#pragma unroll
    for (int bit = 0; bit < LEFT_BITS; bit++) going |= left[bit];
    going &= active;
#pragma unroll
    for (int n = 0; n < INSTANCES; n++) {
      counts.count(ENABLED + n, fresh & enabled[n]);
      word row = BOUNDS ? enabled[n] & ~excluded[n] : enabled[n];
      some |= row;
      enabled[n] = row & going;
    }
    counts.count(DEAD_ENDS, going & ~some);
    if (DEADLOCK) note(run, lanes, thread, threads, left, PROPERTIES, fresh & ~some, found, counts);
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
    count(enabled, sizes);
#pragma unroll
    for (int bit = COUNT_BITS; bit < 8; bit++) sizes[bit] = 0;
    transpose(sizes);
    const u64 turn = round * GOLDEN;
#pragma unroll
    for (int place = 0; place < 8; place++) {
      ranks[place] = 0;
#pragma unroll
      for (int byte = 0; byte < LANES; byte += 8)
        ranks[place] |= scale(mix(lanes.random(byte + place) + turn), sizes[place] >> byte & 255) << byte;
    }
    transpose(ranks);
    choose(enabled, ranks, enabled);

    // Take the steps, one instance after another.
    word taken = 0, failed = 0, blocked = 0, hits[BOUNDS + 1];
#pragma unroll
    for (int bound = 0; bound < BOUNDS; bound++) hits[bound] = 0;
    if (CHECKS_STEPS) save(planes, saved);
#define TAKE(n)                                                              \
  wait_for_block();                                                          \
  if (any_of_group(enabled[n])) {                                            \
    apply_##n(planes, enabled + n, results);                                 \
    counts.count(TAKEN + n, results[0]);                                     \
    counts.count(CHANGED + n, results[2]);                                   \
    taken |= results[0];                                                     \
    const word disabled = enabled[n] & ~results[0];                          \
    if (any_of_group(disabled)) {                                            \
      failed |= results[1];                                                  \
      blocked |= disabled & ~results[1];                                     \
      excluded[n] |= disabled & ~results[1];                                 \
      for (int bound = 0; bound < BOUNDS; bound++) hits[bound] |= results[3 + bound]; \
    }                                                                        \
  }
    FOR_EACH_INSTANCE(TAKE)
    counts.count(STEPS, taken);
    counts.count(FAILED, failed);
#pragma unroll
    for (int bound = 0; bound < BOUNDS; bound++) counts.count(BOUND_HITS + bound, hits[bound]);
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
        counts.count(PREMISES + prop, taken & properties[ROW + prop]);
        if (STEP_CHECKED >> prop & 1) note(run, lanes, thread, threads, left, prop, properties[prop] & taken, found, counts);
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

  counts.add_to(run.totals);
}

#ifdef __CUDACC__
__global__ void __launch_bounds__(THREADS, 1) kernel(Run run) {
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
